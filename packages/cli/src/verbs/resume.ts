import { controllerInterface } from '@infrakit/spi';
import { exits } from '../exit.ts';
import { onlyName, verb } from '../verb.ts';

/** `resume [name]`: goes on after a hold. */
export default verb<{ readonly reason?: string }>({
  define: (command) => command.argument('[name]'),
  run: async (call) => {
    const { session, object, print } = call;
    const name = onlyName(call, 'rule');
    const controller = session.plugins.resolve(controllerInterface, object.name);
    await controller.resume({ name }, session.ctx());
    print([`Resumed ${name}`]);
    return exits.done;
  },
});
