import { groupInterface } from '@infrakit/spi';
import { usageError } from '../exit.ts';
import { nameAndRest, verb } from '../verb.ts';
import { addWaitOptions, type WaitOptions, waitIfWanted } from '../wait.ts';

/** `destroy-instance <id>…`: all or nothing; the size is lowered with it (GP-G4, GP-C12). */
export default verb<WaitOptions>({
  define: (command) =>
    addWaitOptions(command.argument('<ids...>')).option('--yes', 'accepted for scripts; nothing prompts'),
  run: async (call) => {
    const { session, object, print } = call;
    const { name, rest } = nameAndRest(call, 'group');
    if (rest.length === 0) throw usageError('destroy-instance takes the ids of members');
    const instances = [...new Set(rest)];
    await session.plugins.resolve(groupInterface, object.name).destroyInstances({ name, instances }, session.ctx());
    print(['Initiated.']);
    return waitIfWanted(call, name);
  },
});
