import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseBrokerUrl } from '@infrakit/core';
import { type Host, startHost } from '@infrakit/host';
import { systemClock } from '@infrakit/runtime';
import { environment } from './specs.ts';

/** A home in a folder of its own. */
export interface TemporaryHome extends AsyncDisposable {
  readonly path: string;
}

/** Makes a home that is gone afterwards. */
export const temporaryHome = async (): Promise<TemporaryHome> => {
  const path = await mkdtemp(join(tmpdir(), 'infrakit-home-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) };
};

const quiet = (): void => undefined;

/** Starts a host in this process; its embedded broker picks a free port unless `broker` is there already. */
export const startHere = (
  plugins: readonly string[],
  {
    home,
    broker,
    pluginOptions = {},
  }: {
    readonly home: string;
    readonly broker?: string;
    readonly pluginOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  },
): Promise<Host> =>
  startHost(
    {
      plugins,
      home,
      pluginOptions,
      external: broker === undefined ? undefined : { url: broker, address: parseBrokerUrl(broker) },
      listen: { host: '127.0.0.1', port: 0 },
      prefix: undefined,
      usersFile: undefined,
      tls: undefined,
      environment,
      isStandby: false,
      startTimeoutMs: 10_000,
      version: '0.0.0-test',
      host: hostname(),
      pid: process.pid,
    },
    {
      log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
      clock: systemClock,
      random: Math.random,
      randomBytes,
      signal: new AbortController().signal,
    },
  );

/** A host that is a process of its own. */
export interface ChildHost extends AsyncDisposable {
  readonly pid: number;
  /** From its start until it said that it is ready, in ms. */
  readonly readyMs: number;
  /** The last lines of its log. */
  readonly log: () => readonly string[];
  /** SIGKILL; resolves when it is gone. */
  readonly kill: () => Promise<void>;
  /** SIGTERM; resolves with its exit code. */
  readonly stop: () => Promise<number | null>;
}

const program = fileURLToPath(new URL('host-process.mjs', import.meta.url));
const keptLines = 200;

/** Starts a host as a process, from the build, with the default settings but a free port; resolves when it is ready. */
export const startChild = async (
  plugins: readonly string[],
  {
    home,
    broker,
    variables = {},
  }: { readonly home: string; readonly broker?: string; readonly variables?: Record<string, string> },
): Promise<ChildHost> => {
  const startedMs = performance.now();
  const child: ChildProcess = spawn(process.execPath, [program, ...plugins], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env.PATH,
      ...environment,
      INFRAKIT_HOME: home,
      INFRAKIT_LISTEN: '127.0.0.1:0',
      ...(broker === undefined ? {} : { INFRAKIT_BROKER: broker }),
      ...variables,
    },
  });
  // A test or campaign that is ended from outside leaves no host behind.
  const endWithUs = (): void => void child.kill('SIGKILL');
  process.once('exit', endWithUs);
  const exited = once(child, 'exit').finally(() => process.off('exit', endWithUs));
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal);
      await exited;
    }
    return child.exitCode;
  };
  const lines: string[] = [];
  const { pid, stderr } = child;
  if (pid === undefined || stderr === null) throw new Error('the host was not started');
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: stderr }).on('line', (line) => {
      lines.push(line);
      if (lines.length > keptLines) lines.shift();
      if (/ ready( |$)/.test(line)) resolve();
    });
    child.on('exit', () => reject(new Error(`the host ended before it was ready:\n${lines.join('\n')}`)));
  });
  return {
    pid,
    readyMs: performance.now() - startedMs,
    log: () => lines,
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
    [Symbol.asyncDispose]: async () => void (await end('SIGKILL')),
  };
};
