import { groupInterface } from '@infrakit/spi';
import { exits } from '../exit.ts';
import { rawText } from '../format.ts';
import { onlyName, verb } from '../verb.ts';

/** `inspect [-y]`: the committed spec as `{ID, Properties}` (GP §5.3). */
export default verb<{ readonly yaml?: boolean }>({
  define: (command) => command.argument('[name]').option('-y, --yaml', 'YAML instead of JSON'),
  run: async (call) => {
    const { session, object, options, streams } = call;
    const name = onlyName(call, 'group');
    const { spec } = await session.plugins.resolve(groupInterface, object.name).spec({ name }, session.ctx());
    const shown = { ID: name, Properties: spec.properties };
    streams.stdout.write(rawText(shown, options.yaml === true ? 'yaml' : 'json'));
    return exits.done;
  },
});
