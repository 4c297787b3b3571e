import { randomUUID } from 'node:crypto';
import { homedir } from 'node:os';
import { AppError, describeBroker } from '@infrakit/core';
import { builtInKinds, claimInHome, homeOf, readBrokerRecord } from '@infrakit/host';
import { MirrorBuffer, parseListen, pluginOf, runEventRepeater, runManagedRepeater } from '@infrakit/repeater';
import { systemClock, systemRandom } from '@infrakit/runtime';
import type { BrokerAccess, Log } from '@infrakit/spi';
import { findBroker } from './broker.ts';
import type { CommandContext, RunCommand } from './command-context.ts';
import { commandLine, runCommandLine } from './command-line.ts';
import { whenManaged } from './event-repeater-managed.ts';
import { defaultName, placesOf, tokenOf } from './event-repeater-place.ts';
import { exits, usageError } from './exit.ts';
import { commandLog } from './log.ts';
import { withSession } from './session.ts';
import { version } from './version.ts';

interface RunFlags {
  readonly name: string;
  readonly source: string;
  readonly sink: string;
  readonly sinkprotocol: string;
  readonly allowall?: boolean;
  readonly listen?: string;
  readonly token?: string;
  readonly buffer?: string;
  readonly bufferpolicy: string;
}

/** As the old program had it (GP §6.3). */
const defaultLogLevel = 4;
const protocols = ['mqtt', 'stderr'] as const;

/** The broker of the stack, which has the events of plugins. Errors: `BUS_UNAVAILABLE` when nothing runs. */
const stackBroker = async (env: CommandContext['env']): Promise<BrokerAccess> => {
  const { address, prefix } = await findBroker(env);
  if (address.kind !== 'unix') return { address, url: describeBroker(address), prefix };
  const record = await readBrokerRecord(homeOf(env, homedir()));
  return { address, url: record?.url ?? null, prefix };
};

/**
 * A source by the name that its plugin has here: a kind's other name, such as `event-time`, means the plugin of its usual name
 * unless there is one of that very name. Says when there is none of either: it may come.
 */
const sourceOf = (given: string, context: CommandContext, log: Log): Promise<string> => {
  const plugin = pluginOf(given);
  if (plugin === undefined) return Promise.resolve(given);
  const [lookup = plugin, ...rest] = plugin.split('/');
  return withSession(context, async ({ seen, registry }) => {
    await seen();
    if (registry.active(lookup) !== undefined) return plugin;
    const usual = builtInKinds.find(({ aliases }) => aliases.includes(lookup))?.kind;
    if (usual === undefined || registry.active(usual) === undefined) {
      log.warn({ plugin: lookup }, 'no plugin of this name runs so far');
    }
    return [usual ?? lookup, ...rest].join('/');
  });
};

/** Resolves at Ctrl-C or SIGTERM. */
const stopped = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const stop = (): void => {
      process.off('SIGTERM', stop);
      resolve();
    };
    process.on('SIGTERM', stop);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
  });

/** What may wait on the disk while the sink is away. */
const bufferOf = ({ buffer, bufferpolicy }: RunFlags): MirrorBuffer | undefined => {
  if (buffer === undefined) return undefined;
  const read = MirrorBuffer.safeParse({ MaxBytes: Number(buffer), Policy: bufferpolicy });
  if (read.success) return read.data;
  const isPolicy = read.error.issues.some(({ path }) => path[0] === 'Policy');
  throw usageError(
    isPolicy
      ? `--bufferpolicy takes block, drop-oldest or drop-newest, not ${bufferpolicy}`
      : `--buffer takes a number of bytes from 65536, not ${JSON.stringify(buffer)}`,
  );
};

const listenFlag = (text: string | undefined) => {
  if (text === undefined || text === '') return undefined;
  const place = parseListen(text);
  if (place === null) throw usageError(`--listen takes host:port, not ${JSON.stringify(text)}`);
  return place;
};

/** Runs something while no other process of this home has the name. Errors: `PLUGIN_CLAIMED`, `HOME_INVALID`. */
const asTheOnly = async (name: string, env: CommandContext['env'], run: () => Promise<void>): Promise<void> => {
  const claim = await claimInHome(homeOf(env, homedir()), 'event-repeater', name);
  if (claim === null) throw new AppError('PLUGIN_CLAIMED', `an event repeater of the name ${name} runs already`);
  try {
    await run();
  } finally {
    await claim.release();
  }
};

/** `infrakit util event-repeater run`: mirrors by rules until it is stopped (GP §6.3). */
const runRepeater: RunCommand = (words, context) => {
  const { env, signal, streams } = context;
  const command = commandLine(
    'infrakit util event-repeater run',
    {
      summary: 'mirror topics of one source to one sink',
      example: 'infrakit util event-repeater run --source time --sink tcp://localhost:1884 --allowall',
    },
    streams,
  )
    .option('--name <name>', 'what `manage` finds it by', defaultName)
    .option('--source <source>', 'a plugin, or the address of a broker', 'time')
    .option('--sink <address>', 'the broker that is mirrored to', 'tcp://localhost:1883')
    .option('--sinkprotocol <protocol>', 'mqtt or stderr', 'mqtt')
    .option('--allowall', 'mirror everything that no rule wants under its own topic')
    .option('--listen <host:port>', 'listen there instead of on a UNIX socket')
    .option('--buffer <bytes>', 'how much may wait on the disk while the sink is away')
    .option('--bufferpolicy <policy>', 'when that is full: block, drop-oldest or drop-newest', 'block')
    .option('--token <reference>', 'file:PATH or env:NAME of a bearer token that requests must have');
  return runCommandLine(command, words, async () => {
    const flags = command.opts<RunFlags>();
    const protocol = protocols.find((known) => known === flags.sinkprotocol);
    if (protocol === undefined) throw usageError(`--sinkprotocol takes mqtt or stderr, not ${flags.sinkprotocol}`);
    const tcp = listenFlag(flags.listen);
    const buffer = bufferOf(flags);
    const { rules, ...files } = placesOf(env, flags.name);
    const log = commandLog(context.logLevel ?? defaultLogLevel, streams.stderr);
    const rest = { files, tcp, token: await tokenOf(flags.token, env), version: version() };
    await asTheOnly(flags.name, env, async () => {
      const isManaged = await whenManaged(flags.name, context, async (spec) => {
        const { address, close } = await runManagedRepeater(rest, spec);
        log.info({ name: flags.name, address }, 'ready: a manager keeps the rules, and the spec says source and sink');
        await stopped(signal);
        await close();
      });
      if (isManaged) return;
      const source = await sourceOf(flags.source, context, log);
      const running = await runEventRepeater(
        {
          source,
          sink: { Protocol: protocol, URL: flags.sink },
          allowAll: flags.allowall === true,
          path: rules,
          ...(buffer !== undefined && { buffer }),
          ...rest,
        },
        {
          broker: pluginOf(source) === undefined ? null : await stackBroker(env),
          variable: (name) => env[name],
          clock: systemClock,
          random: systemRandom,
          newId: randomUUID,
          log,
        },
      );
      log.info({ name: flags.name, source, address: running.address }, 'ready');
      await stopped(signal);
      await running.close();
    });
    return exits.done;
  });
};

export default runRepeater;
