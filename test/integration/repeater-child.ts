import { openMirrors } from '@infrakit/repeater';
import { systemClock, systemRandom } from '@infrakit/runtime';

/**
 * A repeater as a process of its own, to be killed: `FOLDER` keeps its mirrors, and `PROPERTIES` (JSON) is the one that it is
 * given at its first start. Says `ready` when the mirror is there.
 */
const { FOLDER = '', PROPERTIES = '{}', PROBE_MS = '1000' } = process.env;
const quiet = (): void => undefined;
let ids = 0;
const mirrors = await openMirrors(
  `${FOLDER}/mirrors.log`,
  { probeMs: Number(PROBE_MS), maxBytes: 1024 * 1024 },
  {
    identity: FOLDER,
    broker: null,
    variable: (name) => process.env[name],
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
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
  const spec = { Properties: JSON.parse(PROPERTIES), Tags: {}, Init: '', LogicalID: null, Attachments: null };
  await mirrors.instance.provision({ spec }, { signal: new AbortController().signal, timeoutMs: 5_000 });
}
process.stdout.write('ready\n');
process.on('SIGTERM', () => void mirrors.close().then(() => process.exit(0)));
