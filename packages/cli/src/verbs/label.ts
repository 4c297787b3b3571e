import { instanceInterface } from '@infrakit/spi';
import { exits } from '../exit.ts';
import { tagWords } from '../tag-words.ts';
import { verb } from '../verb.ts';

/** `label <id> <key=value>…`: adds or overwrites tags. */
export default verb<object>({
  define: (command) => command.argument('<id>').argument('<tags...>', 'key=value'),
  run: async ({ session, object, args, print }) => {
    const [id = '', ...tags] = args;
    const labels = tagWords(tags);
    await session.plugins.resolve(instanceInterface, object.name).label({ id, labels }, session.ctx());
    print([`labelled ${id}`]);
    return exits.done;
  },
});
