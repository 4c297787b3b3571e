import { randomBytes } from 'node:crypto';
import { homedir, hostname } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { errorTable, toAppError } from '@infrakit/core';
import { systemClock, systemRandom } from '@infrakit/runtime';
import pino from 'pino';
import { builtInKinds } from './definitions.ts';
import { type HostOptions, startHost } from './host.ts';
import { type Environment, type HostSettings, readSettings } from './settings.ts';
import { textLine } from './text-log.ts';

/** Where a host writes: answers, and everything else. */
export interface HostOutput {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

/** What a host is run with beside its environment. */
export interface RunOptions {
  readonly version: string;
  readonly output?: HostOutput;
  /** Options a plugin is started with, by its name. */
  readonly pluginOptions?: NonNullable<HostOptions['pluginOptions']>;
}

/** An ordered stop that takes longer is given up. */
const stopTimeoutMs = 10_000;

const loggerOf = ({ level, format }: HostSettings['log'], { stderr }: HostOutput) =>
  pino(
    { level, base: null, serializers: { error: pino.stdSerializers.err } },
    { write: (line) => stderr.write(format === 'json' ? line : textLine(line)) },
  );

const kindsTable = (): string =>
  [
    'Plugins available:',
    `${'KIND'.padEnd(20)}EXEC`,
    ...builtInKinds.map(({ kind }) => `${kind.padEnd(20)}inproc`),
    '',
  ].join('\n');

/** Whether an ordered end was asked for; the second signal ends the process at once. */
const onSignals = (first: (signal: NodeJS.Signals) => void): (() => void) => {
  let isAsked = false;
  const receive = (signal: NodeJS.Signals): void => {
    if (isAsked) process.exit(1);
    isAsked = true;
    first(signal);
  };
  process.on('SIGINT', receive).on('SIGTERM', receive);
  return () => {
    process.off('SIGINT', receive).off('SIGTERM', receive);
  };
};

/**
 * Runs the plugins of a command line (`manager:mystack group …`) until SIGINT or SIGTERM, or until all are stopped; without any
 * it lists the kinds there are. Resolves with the exit code of DESIGN §6; a failure is one sentence on stderr. An error that
 * nobody caught is one line of the log and exit 1.
 */
export const runHost = async (
  plugins: readonly string[],
  env: Environment,
  { version, output = process, pluginOptions = {} }: RunOptions,
): Promise<number> => {
  if (plugins.length === 0) {
    output.stdout.write(kindsTable());
    return 0;
  }
  // The young generation keeps its first size: a process that waits most of its life gives back what a burst has taken.
  setFlagsFromString('--semi-space-growth-factor=1');
  const startedMs = systemClock.now();
  const stopping = new AbortController();
  let forget = (): void => undefined;
  try {
    const settings = readSettings(env, homedir());
    const log = loggerOf(settings.log, output);
    const fatal = (error: unknown): void => {
      log.fatal({ err: error }, 'an error that nobody caught ends this process');
      process.exit(1);
    };
    process.on('uncaughtException', fatal);
    const giveUp = (): void => {
      log.error({ timeoutMs: stopTimeoutMs }, 'not everything ended in time');
      process.exit(1);
    };
    let stop = (): void => undefined;
    const forgetSignals = onSignals((signal) => {
      log.info({ signal }, 'stopping');
      stopping.abort();
      setTimeout(giveUp, stopTimeoutMs).unref();
      stop();
    });
    forget = () => {
      forgetSignals();
      process.off('uncaughtException', fatal);
    };
    const { broker, ...rest } = settings;
    const host = await startHost(
      {
        ...rest,
        external: broker,
        plugins,
        pluginOptions,
        packageFolders: [process.cwd(), settings.home],
        environment: env,
        version,
        host: hostname(),
        pid: process.pid,
      },
      { log, clock: systemClock, random: systemRandom, randomBytes, signal: stopping.signal },
    );
    stop = () => void host.stop();
    if (stopping.signal.aborted) stop();
    const tookMs = Math.round(systemClock.now() - startedMs);
    log.info({ home: settings.home, broker: host.url, prefix: host.prefix, tookMs }, 'ready');
    await host.stopped;
    log.info({}, 'stopped');
    return 0;
  } catch (thrown) {
    const error = toAppError(thrown);
    // Asked to stop while it started: that is done.
    if (stopping.signal.aborted && error.code === 'RPC_CANCELLED') return 0;
    output.stderr.write(`infrakit: ${error.message}\n`);
    return errorTable[error.code].exit;
  } finally {
    forget();
  }
};
