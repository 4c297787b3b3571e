import { groupInterface } from '@infrakit/spi';
import { onlyName, verb } from '../verb.ts';
import { addWaitOptions, destroyAndWait, type WaitOptions } from '../wait.ts';

/** `destroy`: answers when the members are gone (GP §5.3), or when the time that it has is up (exit 3). */
export default verb<WaitOptions>({
  define: (command) =>
    addWaitOptions(command.argument('[name]'), 'the members are gone').option(
      '--yes',
      'accepted for scripts; nothing prompts',
    ),
  run: async (call) => {
    const { session, object, print } = call;
    const name = onlyName(call, 'group');
    const group = session.plugins.resolve(groupInterface, object.name);
    const exit = await destroyAndWait(call, name, (ctx) => group.destroy({ name }, ctx));
    print([`Destroy ${name} initiated`]);
    return exit;
  },
});
