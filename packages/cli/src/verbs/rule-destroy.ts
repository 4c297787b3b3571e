import { controllerInterface } from '@infrakit/spi';
import { exits } from '../exit.ts';
import { onlyName, verb } from '../verb.ts';
import { addWaitOptions, destroyAndWait, type WaitOptions } from '../wait.ts';

/** `destroy [name]`: stops keeping the rule and forgets it; what happens downstream is its own option. */
export default verb<WaitOptions>({
  define: (command) =>
    addWaitOptions(
      command.argument('[name]'),
      'what is ours downstream is gone, where the rule is to remove it (an enrollment: DestroyOnTerminate)',
    ).option('--yes', 'accepted for scripts; nothing prompts'),
  run: async (call) => {
    const { session, object, print } = call;
    const name = onlyName(call, 'rule');
    const controller = session.plugins.resolve(controllerInterface, object.name);
    const exit = await destroyAndWait(call, name, (ctx) => controller.destroy({ name }, ctx));
    if (exit === exits.done) print([`Destroyed ${name}`]);
    return exit;
  },
});
