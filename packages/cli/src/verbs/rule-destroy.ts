import { controllerInterface } from '@infrakit/spi';
import { exits } from '../exit.ts';
import { onlyName, verb } from '../verb.ts';

/** `destroy [name]`: stops keeping the rule and forgets it; what happens downstream is its own option. */
export default verb<object>({
  define: (command) => command.argument('[name]').option('--yes', 'accepted for scripts; nothing prompts'),
  run: async (call) => {
    const { session, object, print } = call;
    const name = onlyName(call, 'rule');
    await session.plugins.resolve(controllerInterface, object.name).destroy({ name }, session.ctx());
    print([`Destroyed ${name}`]);
    return exits.done;
  },
});
