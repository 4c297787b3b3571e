import { AppError, type InstanceDescription, type Member } from '@infrakit/core';
import { groupInterface } from '@infrakit/spi';
import { exits } from '../exit.ts';
import { addListOptions, type ListOptions, listText } from '../instance-list.ts';
import { scopeOf } from '../objects.ts';
import { nameAndRest, verb } from '../verb.ts';

/** Why nobody says who is in a group that is no longer kept (DESIGN §3). */
const freed = 'freed';

const asDescription = ({ ID, LogicalID, Tags }: Member): InstanceDescription => ({ ID, LogicalID, Tags });

/** `ls [id…]`: the members, by id; on the object of one group arguments filter them (GP-C11). */
export default verb<ListOptions>({
  define: (command, object) => {
    if (scopeOf(object) === null) command.argument('<group>');
    addListOptions(command.argument('[ids...]'));
  },
  run: async (call) => {
    const { session, object, options, streams } = call;
    const { name, rest } = nameAndRest(call, 'group');
    const group = session.plugins.resolve(groupInterface, object.name);
    const answer = await group.members({ name }, session.ctx());
    if (answer.kind === 'unchanged')
      throw new AppError('RESULT_INVALID', `${name} answered to a digest that was not sent`);
    if (answer.membership.kind === 'unknown') {
      if (answer.membership.reason === freed)
        throw new AppError('RULE_HELD', `${name} is freed: commit it again to resume it`);
      throw new AppError('PLUGIN_UNAVAILABLE', `who is in ${name} is not known: ${answer.membership.reason}`);
    }
    streams.stdout.write(await listText(answer.members.map(asDescription), rest, options));
    return exits.done;
  },
});
