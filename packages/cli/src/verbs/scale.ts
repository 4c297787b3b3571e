import { groupInterface } from '@infrakit/spi';
import { exits, usageError } from '../exit.ts';
import { nameAndRest, verb } from '../verb.ts';
import { addWaitOptions, type WaitOptions, waitIfWanted } from '../wait.ts';

const sizeOf = (text: string): number => {
  if (!/^\d+$/.test(text)) throw usageError(`scale takes a whole number from 0, not ${JSON.stringify(text)}`);
  const size = Number(text);
  if (!Number.isSafeInteger(size)) throw usageError(`${text} is more than can be counted`);
  return size;
};

/** `scale [n]`: the target size, durable before it answers; members follow (GP §5.3). */
export default verb<WaitOptions>({
  define: (command) => addWaitOptions(command.argument('[words...]', 'the new size; on `groups` the group first')),
  run: async (call) => {
    const { session, object, print } = call;
    const { name, rest } = nameAndRest(call, 'group');
    if (rest.length > 1) throw usageError(`scale takes one number, not ${rest.length} words`);
    const group = session.plugins.resolve(groupInterface, object.name);
    const [text] = rest;
    if (text === undefined) {
      const { size } = await group.size({ name }, session.ctx());
      print([`Group ${name} at ${size} instances`]);
      return exits.done;
    }
    const { before, after } = await group.setSize({ name, size: sizeOf(text) }, session.ctx());
    print([`Group ${name} at ${before} instances, scale to ${after}`]);
    return waitIfWanted(call, name);
  },
});
