import { controllerInterface } from '@infrakit/spi';
import { exits } from '../exit.ts';
import { verb } from '../verb.ts';

/** `groups [-q]`: one id a line (GP §5.3). */
export default verb<{ readonly quiet?: boolean }>({
  define: (command) => command.option('-q, --quiet', 'no heading'),
  run: async ({ session, object, options, print }) => {
    const controller = session.plugins.resolve(controllerInterface, object.name);
    const { objects } = await controller.describe({ search: {} }, session.ctx());
    const ids = objects.map(({ metadata }) => metadata.id ?? metadata.name);
    print([...(options.quiet === true ? [] : ['ID']), ...ids]);
    return exits.done;
  },
});
