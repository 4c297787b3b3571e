import { startEmbeddedBroker } from '@infrakit/bus';
import { openMirrors } from '@infrakit/repeater';
import { systemClock, systemRandom } from '@infrakit/runtime';
import { realAfter } from '@infrakit/spi';

/**
 * A process with an embedded broker that keeps its state in `FOLDER`, and a repeater from it to the broker at `SINK_PORT`, as `plugin start`
 * has them. `OVER=socket`: the repeater goes over the UNIX socket as if it were another process.
 */
const { FOLDER = '', SINK_PORT = '', QOS = '1', OVER = '' } = process.env;
const say = (facts: unknown, message: string): void => console.error(message, facts);
const log = { debug: () => undefined, info: () => undefined, warn: say, error: say };
const socketPath = `${FOLDER}/b.sock`;
const broker = await startEmbeddedBroker(
  { socketPath, persistenceDir: `${FOLDER}/db` },
  { log, after: realAfter, now: () => performance.now() },
);
const mirrors = await openMirrors(
  null,
  { probeMs: 10_000, maxBytes: 16 * 1024 * 1024 },
  {
    identity: 'bench',
    broker: {
      address: { kind: 'unix', path: socketPath },
      url: null,
      prefix: 'infrakit',
      ...(OVER !== 'socket' && { openReader: broker.openReader }),
    },
    variable: () => undefined,
    log,
    clock: systemClock,
    random: systemRandom,
    newId: () => 'bench',
    changed: () => undefined,
    fares: () => undefined,
  },
);
const Properties = {
  Source: `unix:${socketPath}`,
  Sink: { URL: `mqtt://127.0.0.1:${SINK_PORT}` },
  sourcetopic: 's/#',
  sinktopic: 'mirror/',
  QoS: Number(QOS),
};
await mirrors.instance.provision(
  { spec: { Properties, Tags: {}, Init: '', LogicalID: null, Attachments: null } },
  { signal: new AbortController().signal, timeoutMs: 5_000 },
);
console.log('ready');
process.on('SIGTERM', () => {
  const { user, system } = process.cpuUsage();
  console.log(JSON.stringify({ cpuMs: (user + system) / 1_000 }));
  process.exit(0);
});
