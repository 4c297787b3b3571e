import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type EmbeddedBroker, type EmbeddedBrokerOptions, startEmbeddedBroker } from '@infrakit/bus';
import { realAfter } from '@infrakit/spi';
import { requireProgram } from '../programs.mjs';

/** A line of a log: its level, message and facts. */
export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

/** An embedded broker of one test alone, in a folder of its own, on a free port of loopback and a UNIX socket. */
export interface EmbeddedSubject extends AsyncDisposable {
  readonly broker: EmbeddedBroker;
  readonly port: number;
  readonly socketPath: string;
  readonly folder: string;
  readonly lines: readonly LogLine[];
}

const recorder = () => {
  const lines: LogLine[] = [];
  const at = (level: string) => (facts: Readonly<Record<string, unknown>>, message: string) =>
    void lines.push({ level, message, facts });
  return { lines, log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } };
};

export const tempFolder = () => mkdtemp(join(tmpdir(), 'infrakit-embedded-'));

/** Starts one. `folder`: one that outlives it, for a restart. */
export const startEmbedded = async (
  options: EmbeddedBrokerOptions = {},
  kept?: { readonly folder: string },
): Promise<EmbeddedSubject> => {
  const folder = kept?.folder ?? (await tempFolder());
  const socketPath = join(folder, 'broker.sock');
  const { lines, log } = recorder();
  const broker = await startEmbeddedBroker(
    { listen: { host: '127.0.0.1', port: 0 }, socketPath, ...options },
    { log, after: realAfter, now: () => performance.now() },
  );
  return {
    broker,
    port: broker.port ?? 0,
    socketPath,
    folder,
    lines,
    [Symbol.asyncDispose]: async () => {
      await broker.stop();
      if (kept === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
};

/** What a program said and how it ended. */
export interface Ended {
  readonly exit: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

const run = (program: string, args: readonly string[], signal?: AbortSignal): Promise<Ended> =>
  new Promise((resolve) => {
    execFile(requireProgram(program), [...args], { timeout: 30_000, signal }, (error, stdout, stderr) =>
      resolve({ exit: error === null ? 0 : (error.code ?? error.signal ?? 'unknown'), stdout, stderr }),
    );
  });

/** The real `mosquitto_pub`. */
export const mosquittoPub = (...args: string[]): Promise<Ended> => run('mosquitto_pub', args);

/** The real `mosquitto_sub`; with `-W` it ends by itself (exit 27). */
export const mosquittoSub = (...args: string[]): Promise<Ended> => run('mosquitto_sub', args);

/** The same until `signal` aborts. */
export const mosquittoSubUntil = (signal: AbortSignal, ...args: string[]): Promise<Ended> =>
  run('mosquitto_sub', args, signal);

/** Waits until a condition holds; fails with the sentence after 20 s. */
export const until = async (condition: () => boolean, sentence: string): Promise<void> => {
  const deadline = performance.now() + 20_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(sentence);
    await delay(5);
  }
};
