import { groupInterface } from '@infrakit/spi';
import { exits } from '../exit.ts';
import { onlyName, verb } from '../verb.ts';

/** `free-group`: members stay as they are (GP §5.3). */
export default verb<object>({
  define: (command) => command.argument('[name]').option('--yes', 'accepted for scripts; nothing prompts'),
  run: async (call) => {
    const { session, object, print } = call;
    const name = onlyName(call, 'group');
    await session.plugins.resolve(groupInterface, object.name).free({ name }, session.ctx());
    print([`Freed ${name}`]);
    return exits.done;
  },
});
