import { AppError, defaultTopicPrefix, type ProcessPresence, topicsUnder } from '@infrakit/core';
import type { Events, Log, Plugins } from '@infrakit/spi';
import { type BusPlugin, type HostedPlugin, type PluginStart, startPlugin } from './bus-plugin.ts';
import type { Connection, Will } from './connection/connection.ts';
import { clearOrphans } from './discovery/orphans.ts';
import { announceProcess, processWill } from './discovery/presence.ts';
import { pluginRegistry, type Registry } from './discovery/registry.ts';
import { pluginsPort } from './discovery/resolve.ts';
import { clearSilentProcesses } from './discovery/silent-processes.ts';
import { badMessages } from './events/bad-messages.ts';
import { eventSubscriber } from './events/events.ts';
import { managedEvents } from './events/managed-events.ts';
import { endLostCalls } from './rpc/lost-calls.ts';
import { rpcClient } from './rpc/rpc-client.ts';
import type { RpcClock } from './rpc/rpc-frame.ts';

/** Who this process is; `nonce` is drawn anew at each start. */
export interface ProcessIdentity {
  readonly nonce: string;
  readonly pid: number;
  readonly host: string;
  readonly version: string;
}

export interface BusOptions {
  /** Connects with this will: it clears the topic of this process when it ends without a word. */
  readonly connect: (will: Will) => Connection | Promise<Connection>;
  /** Stacks with different prefixes do not see each other. */
  readonly prefix?: string;
  readonly identity: ProcessIdentity;
  readonly clock: RpcClock;
  readonly random: () => number;
  readonly newId: () => string;
  readonly log: Log;
  /** Whether a process of this machine lives: those that do not are cleared from the bus at once. */
  readonly isLiving?: (pid: number) => boolean;
  /** How long plugins of a process that went away stay advertised; 15 s when left out. */
  readonly orphanGraceMs?: number;
}

/** One process on the bus: what it offers and what it sees. */
export interface Bus {
  /** For who is no plugin, such as a command line. */
  readonly plugins: Plugins;
  readonly subscribe: Events['subscribe'];
  readonly registry: Registry;
  /** Resolves when this process is on the bus. Errors: `BUS_UNAVAILABLE`. */
  readonly announced: (timeoutMs: number) => Promise<void>;
  /** Brings a plugin to the bus. Errors: `PLUGIN_CLAIMED` where the name is taken, `BUS_UNAVAILABLE`. */
  readonly start: (plugin: string, options: PluginStart) => Promise<BusPlugin>;
  /** Messages that made no sense, on all subscriptions of this process. */
  readonly badCount: () => number;
  /** Stops its plugins, goes offline and ends the connection. */
  readonly close: () => Promise<void>;
}

const defaultGraceMs = 15_000;
const closeTimeoutMs = 2_000;
/** A process and one of its states are published this often, whatever happens (DESIGN §3). */
const heartbeatMs = 30_000;

/** Brings this process to the bus (DESIGN §3). */
export const openBus = async (options: BusOptions): Promise<Bus> => {
  const { identity, clock, random, newId, log, orphanGraceMs: graceMs = defaultGraceMs } = options;
  const { after, nowMs } = clock;
  const { nonce, host } = identity;
  const topics = topicsUnder(options.prefix ?? defaultTopicPrefix);
  const connection = await options.connect(processWill(topics, nonce));
  const hosted = new Map<string, HostedPlugin>();
  const starting = new Set<string>();
  let started = 0;

  const presence = (): ProcessPresence => {
    const terms = [...hosted.values()].flatMap(({ role }) => role().term ?? []);
    const { pid, version } = identity;
    return { pid, host, version, ...(terms.length === 0 ? {} : { term: Math.max(...terms) }) };
  };
  const common = { connection, topics, after, nowMs, log };
  const announcement = announceProcess({ ...common, nonce, presence: presence() });
  const registry = pluginRegistry(common, { nonce, presence });
  const stopOrphans = clearOrphans({ ...common, registry, graceMs, random });
  const { isLiving } = options;
  const silent = clearSilentProcesses({
    ...common,
    registry,
    nonce,
    host,
    ...(isLiving === undefined ? {} : { isLiving }),
  });
  const client = rpcClient({ connection, topics, host, newId, clock, log });
  const stopLostCalls = endLostCalls({ connection, registry, client, after, host, isLiving });
  const bad = badMessages({ log, nowMs });
  const subscribe = managedEvents(registry, eventSubscriber({ connection, topics, bad }));
  const local = (incarnation: string) =>
    [...hosted.values()].find((plugin) => plugin.incarnation === incarnation)?.find;
  const resolving = { registry, client, local };

  let stopHeartbeat: () => void;
  const beat = (): void => {
    stopHeartbeat = after(heartbeatMs, () => {
      for (const { heartbeat } of hosted.values()) if (heartbeat()) break;
      announcement.beat();
      silent.beat();
      beat();
    });
  };
  beat();

  const start = async (plugin: string, how: PluginStart): Promise<BusPlugin> => {
    if (hosted.has(plugin) || starting.has(plugin)) {
      throw new AppError('PLUGIN_CLAIMED', `${plugin} is run by this process already`, {
        facts: { plugin, host, pid: identity.pid },
      });
    }
    starting.add(plugin);
    started += 1;
    const onChange = (): void => announcement.update(presence());
    const deps = { ...resolving, connection, topics, nonce, host, subscribe, clock, log, onChange };
    try {
      await announcement.settled(how.timeoutMs ?? closeTimeoutMs);
      const running = await startPlugin(plugin, `${nonce}.${started}`, how, deps);
      hosted.set(plugin, running);
      onChange();
      return {
        ...running,
        stop: async () => {
          await running.stop();
          if (hosted.get(plugin) === running) hosted.delete(plugin);
        },
      };
    } finally {
      starting.delete(plugin);
    }
  };

  return {
    plugins: pluginsPort(resolving),
    subscribe,
    registry,
    announced: announcement.settled,
    start,
    badCount: () =>
      [bad.count, registry.badCount, client.badCount, ...[...hosted.values()].map(({ badCount }) => badCount)].reduce(
        (sum, count) => sum + count(),
        0,
      ),
    close: async () => {
      stopHeartbeat();
      stopOrphans();
      silent.close();
      await Promise.all([...hosted.values()].map((plugin) => plugin.stop()));
      hosted.clear();
      const late = (error: unknown): void => log.warn({ err: error }, 'process left the bus without goodbye');
      await announcement.leave(closeTimeoutMs).catch(late);
      announcement.close();
      stopLostCalls();
      registry.close();
      client.close();
      await connection.close();
    },
  };
};
