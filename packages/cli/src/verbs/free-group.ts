import { groupInterface } from '@infrakit/spi';
import { exits } from '../exit.ts';
import { onlyName, verb } from '../verb.ts';
import { addWaitOptions, type WaitOptions, waitIfWanted } from '../wait.ts';

/** `free-group`: members stay as they are (GP §5.3). */
export default verb<WaitOptions>({
  define: (command) =>
    addWaitOptions(command.argument('[name]'), 'nothing of it is under way').option(
      '--yes',
      'accepted for scripts; nothing prompts',
    ),
  run: async (call) => {
    const { session, object, print } = call;
    const name = onlyName(call, 'group');
    const { objects } = await session.plugins.resolve(groupInterface, object.name).free({ name }, session.ctx());
    print([`Freed ${name}`]);
    return objects.length === 0 ? exits.done : waitIfWanted(call, name);
  },
});
