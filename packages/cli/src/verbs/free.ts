import { controllerInterface } from '@infrakit/spi';
import { exits } from '../exit.ts';
import { rawText } from '../format.ts';
import { onlyName, verb } from '../verb.ts';
import { addWaitOptions, type WaitOptions, waitIfWanted } from '../wait.ts';

/** `free [name]`: no name on the object of one rule (GP-C13); prints the freed objects as YAML. */
export default verb<WaitOptions>({
  define: (command) =>
    addWaitOptions(command.argument('[name]'), 'nothing of it is under way').option(
      '--yes',
      'accepted for scripts; nothing prompts',
    ),
  run: async (call) => {
    const { session, object, streams } = call;
    const name = onlyName(call, 'rule');
    const controller = session.plugins.resolve(controllerInterface, object.name);
    const { objects } = await controller.free({ name }, session.ctx());
    streams.stdout.write(rawText(objects, 'yaml'));
    return objects.length === 0 ? exits.done : waitIfWanted(call, name);
  },
});
