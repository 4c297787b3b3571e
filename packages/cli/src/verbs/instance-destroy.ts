import { instanceInterface } from '@infrakit/spi';
import { exits } from '../exit.ts';
import { verb } from '../verb.ts';

/** `destroy <id>…`: stops at the first that cannot be destroyed. */
export default verb<object>({
  define: (command) => command.argument('<ids...>').option('--yes', 'accepted for scripts; nothing prompts'),
  run: async ({ session, object, args, print }) => {
    const instance = session.plugins.resolve(instanceInterface, object.name);
    for (const id of args) {
      await instance.destroy({ id, context: { Reason: 'terminate' } }, session.ctx());
      print([`destroyed ${id}`]);
    }
    return exits.done;
  },
});
