import { controllerInterface } from '@infrakit/spi';
import { exits } from '../exit.ts';
import { onlyName, verb } from '../verb.ts';

/** `approve [name] [--plan id]`: lets exactly the held plan through, once (Law 6). */
export default verb<{ readonly plan?: string }>({
  define: (command) => command.argument('[name]').option('--plan <id>', 'only if this is still the plan that is held'),
  run: async (call) => {
    const { session, object, options, print } = call;
    const name = onlyName(call, 'rule');
    const controller = session.plugins.resolve(controllerInterface, object.name);
    const { plan } = options;
    const approved = await controller.approve({ name, ...(plan !== undefined && { plan }) }, session.ctx());
    print([`Approved plan ${approved.plan.id}`, ...approved.plan.messages]);
    return exits.done;
  },
});
