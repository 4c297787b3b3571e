import { startEmbeddedBroker } from '@infrakit/bus';
import { openMirrors } from '@infrakit/repeater';
import { systemClock, systemRandom } from '@infrakit/runtime';
import { realAfter } from '@infrakit/spi';

/**
 * An embedded broker and a repeater that reads from it, in one process, to be killed: `FOLDER` keeps the state of both, `PROPERTIES`
 * (JSON) is the mirror that it is given at its first start, but for its source. Says `ready`.
 */
const { FOLDER = '', PROPERTIES = '{}' } = process.env;
const quiet = (): void => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const socketPath = `${FOLDER}/b.sock`;
const broker = await startEmbeddedBroker(
  { socketPath, persistenceDir: `${FOLDER}/db` },
  { log, after: realAfter, now: () => performance.now() },
);
let ids = 0;
const mirrors = await openMirrors(
  `${FOLDER}/mirrors.log`,
  { probeMs: 1_000, maxBytes: 1024 * 1024 },
  {
    identity: FOLDER,
    broker: {
      address: { kind: 'unix', path: socketPath },
      url: null,
      prefix: 'infrakit',
      openReader: broker.openReader,
    },
    variable: () => undefined,
    log,
    clock: systemClock,
    random: systemRandom,
    newId: () => {
      ids += 1;
      return `${process.pid}-${ids}`;
    },
    changed: quiet,
    fares: quiet,
  },
);
if (mirrors.reports().length === 0) {
  const Properties = { Source: `unix:${socketPath}`, ...JSON.parse(PROPERTIES) };
  const spec = { Properties, Tags: {}, Init: '', LogicalID: null, Attachments: null };
  await mirrors.instance.provision({ spec }, { signal: new AbortController().signal, timeoutMs: 5_000 });
}
process.stdout.write('ready\n');
