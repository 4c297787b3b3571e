import { AppError } from '@infrakit/core';
import { metadataInterface } from '@infrakit/spi';
import { exits } from '../exit.ts';
import { verb } from '../verb.ts';

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

/** `cat <path>…`: the value at each path. */
export default verb<object>({
  define: (command) => command.argument('<paths...>'),
  run: async ({ session, object, args, print }) => {
    const metadata = session.plugins.resolve(metadataInterface, object.name);
    for (const path of args) {
      const { found, value } = await metadata.get({ path }, session.ctx());
      if (!found) throw new AppError('METADATA_NOT_FOUND', `${object.name} has nothing at ${path}`);
      print([shown(value)]);
    }
    return exits.done;
  },
});
