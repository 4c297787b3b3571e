import { groupInterface } from '@infrakit/spi';
import { exits } from '../exit.ts';
import { onlyName, verb } from '../verb.ts';

/** `destroy`: answers when the members are gone (GP §5.3). */
export default verb<object>({
  define: (command) => command.argument('[name]').option('--yes', 'accepted for scripts; nothing prompts'),
  run: async (call) => {
    const { session, object, print } = call;
    const name = onlyName(call, 'group');
    await session.plugins.resolve(groupInterface, object.name).destroy({ name }, session.ctx());
    print([`Destroy ${name} initiated`]);
    return exits.done;
  },
});
