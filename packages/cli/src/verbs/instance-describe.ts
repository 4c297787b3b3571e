import { instanceInterface } from '@infrakit/spi';
import { exits } from '../exit.ts';
import { addListOptions, type ListOptions, listText } from '../instance-list.ts';
import { verb } from '../verb.ts';

/** `describe [id…]`: all instances, by id; the columns of `ls` (GP §5.3). */
export default verb<ListOptions>({
  define: (command) => addListOptions(command.argument('[ids...]')),
  run: async ({ session, object, args, options, streams }) => {
    const instance = session.plugins.resolve(instanceInterface, object.name);
    const listing = await instance.describe({ tags: {}, properties: true }, session.ctx());
    streams.stdout.write(await listText(listing.kind === 'instances' ? listing.instances : [], args, options));
    return exits.done;
  },
});
