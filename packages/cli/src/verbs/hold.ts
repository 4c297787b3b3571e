import { controllerInterface } from '@infrakit/spi';
import { exits } from '../exit.ts';
import { onlyName, verb } from '../verb.ts';

/** `hold [name] [--reason text]`: stops acting until `resume` or a commit. */
export default verb<{ readonly reason?: string }>({
  define: (command) => command.argument('[name]').option('--reason <text>', 'why, for whoever looks'),
  run: async (call) => {
    const { session, object, options, print } = call;
    const name = onlyName(call, 'rule');
    const controller = session.plugins.resolve(controllerInterface, object.name);
    await controller.hold({ name, reason: options.reason ?? 'held by hand' }, session.ctx());
    print([`Held ${name}`]);
    return exits.done;
  },
});
