/** What the author of a program mends when a case of the instance contract fails, by the name of the case. */
export const advice: Readonly<Record<string, string>> = {
  'validate accepts valid properties':
    'Let `validate` end with exit code 0 for properties that can be provisioned; give such properties with --properties.',
  'validate refuses invalid properties':
    'Let `validate` answer the error INSTANCE_INVALID (or exit 10) for properties that cannot be provisioned, with every fault at once.',
  'validate has no effect': 'Let `validate` only look at the properties.',
  'provision of invalid properties makes nothing':
    'Let `provision` check the properties as `validate` does, before it makes anything.',
  'a provisioned instance is described with its id and tags':
    'Keep spec.Tags with what you make, whatever characters they hold, and print them as Tags in `describe`; print there the ID that `provision` answered.',
  'provision keeps the logical id':
    'Keep spec.LogicalID and print it as LogicalID in `describe`; say --no-logical-id if you cannot.',
  'provisions without a key make one instance each':
    'Make a new instance, with an id that was never used, for each `provision` that has no idempotency key.',
  'the same key gives the living instance':
    'Keep context.idempotencyKey with what you make; answer the id of the living instance that has it instead of making another.',
  'other keys make other instances': 'Compare the whole of context.idempotencyKey.',
  'calls at once with one key make one instance':
    'Keep the key before or together with the instance, in one step, so that the next `provision` with it finds the instance.',
  'a key outlives a restart': 'Keep idempotency keys where they outlive the program: with the instance itself.',
  'a key whose instance was destroyed makes a new one':
    'Forget the idempotency key of an instance when it is destroyed; only a living one counts.',
  'instances outlive a restart':
    'Keep what `describe` needs outside of the program, such as below $INFRAKIT_STATE_DIR.',
  'label adds and overwrites, and removes nothing':
    'Let `label` merge the labels into the tags that are there; answer LABEL_REFUSED (or exit 12) always if you cannot.',
  'label keeps logical id and properties': 'Let `label` change nothing but tags.',
  'label touches no other instance': 'Let `label` change the instance of params.id alone.',
  'label twice is label once': 'Let `label` succeed when the instance has these labels already.',
  'a refused label changes nothing': 'Let `label` refuse before it changes anything.',
  'label of an unknown id is refused':
    'Let `label` answer the error INSTANCE_NOT_FOUND (or exit 11) for an id that is not there.',
  'destroy removes the instance and no other':
    'Let `destroy` remove the instance of params.id, and that one alone, before it ends.',
  'destroy of an unknown id is refused':
    'Let `destroy` answer the error INSTANCE_NOT_FOUND (or exit 11) for an id that is not there, also the second time.',
  'describe wants every tag, present and equal':
    'Print all instances, or those that have all of params.tags with equal values: not those that have one of them.',
  'describe without tags gives everything': 'Print every instance when params.tags is empty.',
  'a long list is complete and repeats nothing':
    'Print all instances, of every page, each once; end with an exit code that is not 0 if you cannot.',
  'with and without properties the same instances are shown':
    'Let params.properties decide only whether Properties are printed, never which instances.',
  'the newest digest is answered with "unchanged"':
    'Print the same for the same instances: nothing that differs from run to run, such as the time or a counter.',
  'an unknown digest is answered with the list':
    'Print the same for the same instances: nothing that differs from run to run, such as the time or a counter.',
  'what a caller does to a result changes nothing for others':
    'Print the same for the same instances: nothing that differs from run to run, such as the time or a counter.',
  'the digest changes with each write':
    'Let `describe` show each `provision`, `label` and `destroy` as soon as it has ended; say --eventually if that takes a while.',
};
