import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Host, type HostOptions, startHost } from '@infrakit/host';
import { systemClock, systemRandom } from '@infrakit/runtime';
import { type Logged, recordingLog } from './recording-log.ts';
import { type ToyWorld, toyWorld } from './toy-kinds.ts';

/** A folder of one test alone, which does not exist yet. */
export const withHome = async (run: (home: string) => Promise<void>): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'infrakit-host-'));
  try {
    await run(join(folder, 'home'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** A host of toy plugins, and what it said and did. */
export type ToyHost = Host & ToyWorld & { readonly lines: readonly Logged[] };

/** Starts one on a free port; whatever is given goes before that. */
export const startToys = async (
  plugins: readonly string[],
  home: string | null,
  more: Partial<HostOptions> & { readonly signal?: AbortSignal; readonly world?: ToyWorld } = {},
): Promise<ToyHost> => {
  const { signal = new AbortController().signal, world = toyWorld(), ...options } = more;
  const { log, lines } = recordingLog();
  const host = await startHost(
    {
      plugins,
      home,
      external: undefined,
      listen: { host: '127.0.0.1', port: 0 },
      prefix: undefined,
      usersFile: undefined,
      tls: undefined,
      environment: {},
      isStandby: false,
      startTimeoutMs: 5_000,
      version: '0.0.0-test',
      host: hostname(),
      pid: process.pid,
      ...options,
    },
    { log, clock: systemClock, random: systemRandom, randomBytes, kinds: world.kinds, signal },
  );
  return { ...host, ...world, lines };
};

/** Waits until a condition holds; fails with the sentence after `timeoutMs`. */
export const until = async (condition: () => boolean, sentence: string, timeoutMs = 5_000): Promise<void> => {
  const deadline = performance.now() + timeoutMs;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(sentence);
    await delay(5);
  }
};
