import { AppError } from '@infrakit/core';
import { metadataInterface } from '@infrakit/spi';
import { exits } from '../exit.ts';
import { verb } from '../verb.ts';

/** `keys [path]`: the children of a path, one a line. */
export default verb<object>({
  define: (command) => command.argument('[path]'),
  run: async ({ session, object, args, print }) => {
    const path = args[0] ?? '.';
    const { nodes } = await session.plugins.resolve(metadataInterface, object.name).keys({ path }, session.ctx());
    if (nodes === null) throw new AppError('METADATA_NOT_FOUND', `${object.name} has nothing at ${path}`);
    print(nodes);
    return exits.done;
  },
});
