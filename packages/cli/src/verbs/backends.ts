import { loadBalancerInterface } from '@infrakit/spi';
import { exits, usageError } from '../exit.ts';
import { type FormatOptions, formatOf, rawText } from '../format.ts';
import { tableLines } from '../table.ts';
import { verb } from '../verb.ts';

type Options = FormatOptions & { readonly quiet?: boolean };

/** `backends ls|add|rm` (EI §4.3): sorted by id, several ids accepted (GP-C15). */
export default verb<Options>({
  define: (command) =>
    command
      .argument('<ls|add|rm>')
      .argument('[ids...]')
      .option('-q, --quiet', 'no heading')
      .option('-o, --output [format]', 'table, json or yaml')
      .option('-r, --raw', 'everything, as JSON')
      .option('-y, --yaml', 'YAML instead of JSON'),
  run: async ({ session, object, args, options, print, streams }) => {
    const [action, ...ids] = args;
    const balancer = session.plugins.resolve(loadBalancerInterface, object.name);
    if (action === 'ls') {
      const found = await balancer.backends({}, session.ctx());
      const format = formatOf(options);
      if (format === 'json' || format === 'yaml') streams.stdout.write(rawText(found.ids, format));
      else
        print(
          tableLines(
            [{ heading: 'INSTANCE ID', width: 20 }],
            found.ids.map((id) => [id]),
            options.quiet === true,
          ),
        );
      return exits.done;
    }
    if (action !== 'add' && action !== 'rm')
      throw usageError(`backends takes ls, add or rm, not ${JSON.stringify(action)}`);
    if (ids.length === 0) throw usageError(`backends ${action} takes the ids of instances`);
    const call = action === 'add' ? balancer.registerBackends : balancer.deregisterBackends;
    print([(await call({ ids }, session.ctx())).result]);
    return exits.done;
  },
});
