import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Mirrors, openMirrors } from '@infrakit/repeater';
import { systemClock, systemRandom } from '@infrakit/runtime';
import { recordingLog } from '../host/recording-log.ts';
import { requireProgram } from '../programs.mjs';

/** Waits until `probe` is true; a wait that is over is an error that says for what. */
export const until = async (
  what: string,
  probe: () => boolean | Promise<boolean>,
  timeoutMs = 30_000,
): Promise<void> => {
  const deadline = performance.now() + timeoutMs;
  while (!(await probe())) {
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms for ${what}`);
    await delay(10);
  }
};

const ended = async (child: ChildProcess, signal: NodeJS.Signals): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
};

/** A message as `mosquitto_sub` printed it. */
export interface Printed {
  readonly topic: string;
  readonly retain: boolean;
  readonly qos: number;
  readonly payload: string;
}

/** A plain client of a broker: `mosquitto_sub` with a session that the broker keeps. */
export interface Collector extends AsyncDisposable {
  readonly messages: readonly Printed[];
}

/** A port of loopback, or the path of a socket, as the clients of mosquitto take it. */
const placeArgs = (place: number | string): string[] =>
  typeof place === 'number' ? ['-p', `${place}`] : ['--unix', place];

/** Subscribes at a port or socket to everything or a filter, and is subscribed when it resolves. */
export const collect = async (
  place: number | string,
  filter = '#',
  name = 'collector',
  login: readonly string[] = [],
): Promise<Collector> => {
  const args = [
    ...placeArgs(place),
    ...login,
    '-i',
    `${name}${place}`,
    '-c',
    '-q',
    '2',
    '-t',
    filter,
    '-t',
    'ready',
    '-F',
    '%r %q %t %p',
  ];
  const child = spawn(requireProgram('mosquitto_sub'), args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const messages: Printed[] = [];
  let isReady = false;
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const [, retain = '', qos = '', topic = '', payload = ''] = /^(\d) (\d) (\S*) ?(.*)$/.exec(line) ?? [];
      if (topic === 'ready') isReady = true;
      else if (!topic.startsWith('infrakit-canary/'))
        messages.push({ retain: retain === '1', qos: Number(qos), topic, payload });
    }
  });
  await until('mosquitto_sub', async () => {
    await publish(place, 'ready', 'x', { login });
    return isReady;
  });
  return { messages, [Symbol.asyncDispose]: () => ended(child, 'SIGKILL') };
};

/** Publishes one message with `mosquitto_pub`. */
export const publish = async (
  place: number | string,
  topic: string,
  payload: string,
  options: { readonly qos?: 0 | 1 | 2; readonly retain?: boolean; readonly login?: readonly string[] } = {},
): Promise<void> => {
  const { qos = 1, retain = false, login = [] } = options;
  const args = [...placeArgs(place), ...login, '-t', topic, '-q', `${qos}`, '-m', payload, ...(retain ? ['-r'] : [])];
  const child = spawn(requireProgram('mosquitto_pub'), args, { stdio: 'ignore' });
  await once(child, 'exit');
};

/** Publishes numbers from 0 (or `from`) on one topic, so many a second, until it is stopped; answers up to which one. */
export const stream = (
  port: number,
  topic: string,
  options: { readonly qos: 0 | 1 | 2; readonly perSecond: number; readonly from?: number },
) => {
  const { from = 0 } = options;
  const args = ['-p', `${port}`, '-t', topic, '-q', `${options.qos}`, '-l'];
  const child = spawn(requireProgram('mosquitto_pub'), args, { stdio: ['pipe', 'ignore', 'ignore'] });
  let sent = from;
  const startedMs = performance.now();
  const timer = setInterval(() => {
    const due = from + Math.floor(((performance.now() - startedMs) * options.perSecond) / 1_000);
    for (; sent < due; sent += 1) child.stdin.write(`${sent}\n`);
  }, 10);
  return {
    sent: () => sent,
    /** Ends it at once, whatever is not acknowledged. */
    kill: () => {
      clearInterval(timer);
      child.kill('SIGKILL');
    },
    stop: async (): Promise<number> => {
      clearInterval(timer);
      const exit = once(child, 'exit');
      child.stdin.end();
      await exit;
      return sent;
    },
  };
};

/** Mirrors in this process. */
export interface Scene extends AsyncDisposable {
  readonly mirrors: Mirrors;
  /** Adds a mirror; gives its id. */
  readonly add: (properties: unknown, tags?: Readonly<Record<string, string>>) => Promise<string>;
  /** Starts a mirror; gives its id when it delivers. */
  readonly start: (properties: unknown, tags?: Readonly<Record<string, string>>) => Promise<string>;
  readonly stop: (id: string) => Promise<void>;
  readonly state: (id: string) => string | undefined;
}

const ctx = { signal: new AbortController().signal, timeoutMs: 30_000 };

/**
 * Opens mirrors with probes every `probeMs`, longer than a busy machine keeps a broker waiting; they keep nothing, save where
 * they are given a folder.
 */
export const openScene = async (
  options: { readonly probeMs?: number; readonly maxBytes?: number; readonly folder?: string } = {},
): Promise<Scene> => {
  const { probeMs = 1_500, maxBytes = 1024 * 1024, folder } = options;
  let ids = 0;
  const mirrors = await openMirrors(
    folder === undefined ? null : join(folder, 'mirrors.log'),
    { probeMs, maxBytes },
    {
      identity: folder ?? `scene ${Math.random()}`,
      broker: null,
      variable: () => undefined,
      log: recordingLog().log,
      clock: systemClock,
      random: systemRandom,
      newId: () => {
        ids += 1;
        return `m${ids}`;
      },
      changed: () => undefined,
      fares: () => undefined,
    },
  );
  const state = (id: string) => mirrors.reports().find(({ record }) => record.ID === id)?.status.state;
  const add: Scene['add'] = async (Properties, Tags = {}) => {
    const spec = { Properties, Tags: { ...Tags }, Init: '', LogicalID: null, Attachments: null };
    return (await mirrors.instance.provision({ spec }, ctx)).id;
  };
  return {
    mirrors,
    state,
    add,
    start: async (properties, tags) => {
      const id = await add(properties, tags);
      await until('the mirror', () => state(id) === 'active');
      return id;
    },
    stop: async (id) => {
      await mirrors.instance.destroy({ id, context: { Reason: 'terminate' } }, ctx);
    },
    [Symbol.asyncDispose]: mirrors.close,
  };
};

/** A repeater as a process of its own. */
export interface RepeaterProcess extends AsyncDisposable {
  /** Ends it without a word and starts it again. */
  readonly crash: () => Promise<void>;
  /** The most memory it has had so far, in MB. */
  readonly peakMb: () => number;
}

const child = fileURLToPath(new URL('repeater-child.ts', import.meta.url));

/** Starts a repeater with one mirror. */
export const startRepeaterProcess = async (properties: unknown): Promise<RepeaterProcess> => {
  const folder = await mkdtemp(join(tmpdir(), 'repeater-'));
  const begin = async (): Promise<ChildProcess> => {
    const started = spawn(process.execPath, ['--import', 'tsx', '--conditions=@infrakit/source', child], {
      env: { ...process.env, FOLDER: folder, PROPERTIES: JSON.stringify(properties) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await Promise.race([
      once(started.stdout, 'data'),
      once(started, 'exit').then(() => Promise.reject(new Error('the repeater ended by itself'))),
    ]);
    return started;
  };
  let running = await begin();
  return {
    peakMb: () => {
      const status = readFileSync(`/proc/${running.pid}/status`, 'utf8');
      return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) / 1024;
    },
    crash: async () => {
      await ended(running, 'SIGKILL');
      running = await begin();
    },
    [Symbol.asyncDispose]: async () => {
      await ended(running, 'SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
};
