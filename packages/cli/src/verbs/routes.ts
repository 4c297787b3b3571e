import { Route } from '@infrakit/core';
import { loadBalancerInterface } from '@infrakit/spi';
import { exits, usageError } from '../exit.ts';
import { type FormatOptions, formatOf, rawText } from '../format.ts';
import { tableLines } from '../table.ts';
import { verb } from '../verb.ts';

interface Options extends FormatOptions {
  readonly protocol: string;
  readonly loadbalancerprotocol: string;
  readonly cert?: string;
  readonly healthPath?: string;
  readonly quiet?: boolean;
}

const columns = [
  { heading: 'FRONTEND PORT', width: 15 },
  { heading: 'FRONTEND PROTOCOL', width: 20 },
  { heading: 'BACKEND PORT', width: 15 },
  { heading: 'BACKEND PROTOCOL', width: 20 },
  { heading: 'CERT', width: 20 },
];

const portOf = (text: string | undefined): number => {
  const port = Number(text);
  if (text !== undefined && Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
  throw usageError(`a port is a number from 1 to 65535, not ${JSON.stringify(text ?? '')}`);
};

const routeOf = (front: string | undefined, back: string | undefined, options: Options): Route => {
  const parsed = Route.safeParse({
    LoadBalancerPort: portOf(front),
    Port: portOf(back),
    Protocol: options.protocol,
    LoadBalancerProtocol: options.loadbalancerprotocol,
    Certificate: options.cert ?? null,
    HealthMonitorPath: options.healthPath ?? null,
  });
  if (parsed.success) return parsed.data;
  throw usageError(parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '));
};

/** `routes ls|add|rm` (EI §4.3): sorted by port, several ports accepted by rm. */
export default verb<Options>({
  define: (command) =>
    command
      .argument('<ls|add|rm>')
      .argument('[ports...]', 'add: frontend port, backend port; rm: frontend ports')
      .option('--protocol <name>', 'of the backend', 'tcp')
      .option('--loadbalancerprotocol <name>', 'of the frontend', 'tcp')
      .option('--cert <id>', 'certificate of the frontend')
      .option('--health-path <path>', 'path that tells health')
      .option('-q, --quiet', 'no heading')
      .option('-o, --output [format]', 'table, json or yaml')
      .option('-r, --raw', 'everything, as JSON')
      .option('-y, --yaml', 'YAML instead of JSON'),
  run: async ({ session, object, args, options, print, streams }) => {
    const [action, ...ports] = args;
    const balancer = session.plugins.resolve(loadBalancerInterface, object.name);
    if (action === 'ls') {
      const { routes } = await balancer.routes({}, session.ctx());
      const format = formatOf(options);
      if (format === 'json' || format === 'yaml') streams.stdout.write(rawText(routes, format));
      else {
        const rows = routes.map((route) => [
          String(route.LoadBalancerPort),
          route.LoadBalancerProtocol,
          String(route.Port),
          route.Protocol,
          route.Certificate ?? '',
        ]);
        print(tableLines(columns, rows, options.quiet === true));
      }
    } else if (action === 'add') {
      if (ports.length !== 2) throw usageError('routes add takes a frontend port and a backend port');
      print([(await balancer.publish({ route: routeOf(ports[0], ports[1], options) }, session.ctx())).result]);
    } else if (action === 'rm') {
      if (ports.length === 0) throw usageError('routes rm takes frontend ports');
      for (const port of ports.map(portOf)) print([(await balancer.unpublish({ port }, session.ctx())).result]);
    } else throw usageError(`routes takes ls, add or rm, not ${JSON.stringify(action)}`);
    return exits.done;
  },
});
