import { AppError, type Topics } from '@infrakit/core';
import type { Events, Log, MembersPublisher, PluginObject, Plugins, StatePublisher } from '@infrakit/spi';
import type { Connection } from './connection/connection.ts';
import { advertise, advertisementOf, type PluginRole } from './discovery/advertise.ts';
import { claimName } from './discovery/claim.ts';
import { fullName } from './discovery/plugin-record.ts';
import type { Registry } from './discovery/registry.ts';
import { pluginsPort, type ResolveOptions } from './discovery/resolve.ts';
import { eventPublisher } from './events/events.ts';
import { membersPublisher } from './retained/members-publisher.ts';
import { statePublisher } from './retained/state-publisher.ts';
import type { RpcClock } from './rpc/rpc-frame.ts';
import { type FindMethod, methodFinder } from './rpc/rpc-objects.ts';
import { serveRpc } from './rpc/rpc-server.ts';

/** How a plugin comes to the bus. */
export interface PluginStart {
  /** Whether its kind has leaders: then several may be there and `role` says which of them this is (DESIGN §3). */
  readonly isSingle: boolean;
  /** What it offers now. Another list is another array. */
  readonly objects: () => readonly PluginObject[];
  /** Whether it leads, and the term; active when left out. */
  readonly role?: () => PluginRole;
  /** 0 for timers; 1 when left out. */
  readonly eventQos?: 0 | 1;
  /** Deadline of the start; 10 s when left out. */
  readonly timeoutMs?: number;
}

/** A plugin on the bus, with the ports it is given. */
export interface BusPlugin {
  readonly plugin: string;
  readonly incarnation: string;
  /** With the right to change what it manages directly. */
  readonly plugins: Plugins;
  readonly events: Events;
  readonly state: StatePublisher;
  readonly members: MembersPublisher;
  /** `objects` or `role` give something else from now on. */
  readonly objectsChanged: () => void;
  /** Resolves when the broker has what it last said of itself. Errors: `BUS_UNAVAILABLE` after the deadline. */
  readonly settled: (timeoutMs: number) => Promise<void>;
  /** Leaves the bus within a few seconds; what it retained of its objects and members stays. Call it after the plugin itself has stopped. */
  readonly stop: () => Promise<void>;
}

/** A plugin on the bus, as its process sees it. */
export interface HostedPlugin extends BusPlugin {
  readonly find: FindMethod;
  readonly role: () => PluginRole;
  readonly heartbeat: () => boolean;
  readonly badCount: () => number;
}

export interface HostedPluginDeps extends Omit<ResolveOptions, 'caller'> {
  readonly connection: Connection;
  readonly topics: Topics;
  readonly registry: Registry;
  readonly nonce: string;
  readonly host: string;
  readonly subscribe: Events['subscribe'];
  readonly clock: RpcClock;
  readonly log: Log;
  /** It says something else of itself now. */
  readonly onChange: () => void;
}

const stopTimeoutMs = 2_000;
const standby = { role: 'standby' } as const;

/**
 * Brings one incarnation of a plugin to the bus: claims the name where only one may have it, answers calls, advertises.
 * Errors: `PLUGIN_CLAIMED`, `BUS_UNAVAILABLE`.
 */
export const startPlugin = async (
  plugin: string,
  incarnation: string,
  options: PluginStart,
  deps: HostedPluginDeps,
): Promise<HostedPlugin> => {
  const { isSingle, objects, eventQos = 1, timeoutMs = 10_000 } = options;
  const { connection, topics, registry, nonce, host, subscribe, clock, log, onChange } = deps;
  const { after, nowMs } = clock;
  const common = { connection, topics, plugin, incarnation, after, log };
  const role = (): PluginRole => (isServing ? (options.role?.() ?? { role: 'active' }) : standby);
  const isWriting = (): boolean => role().role === 'active';
  let isServing = false;

  const server = serveRpc({
    ...common,
    host,
    objects,
    isAnswering: isWriting,
    managedBy: (object) => registry.proxyOf(fullName(plugin, object)),
    clock,
  });
  const advertising = advertise(common);
  const events = eventPublisher({ ...common, qos: eventQos, nowMs });
  const state = statePublisher({ ...common, term: () => role().term, isWriting });
  const members = membersPublisher({ ...common, isWriting });

  const say = (): void => {
    const advertisement = advertisementOf(nonce, objects(), role());
    registry.own(plugin, incarnation, advertisement);
    advertising.publish(advertisement);
    onChange();
  };
  const close = (): void => {
    isServing = false;
    registry.own(plugin, incarnation, undefined);
    for (const part of [server, advertising, state, members]) part.close();
  };

  try {
    await server.ready({ timeoutMs });
    if (!isSingle) {
      const advertisement = { ...advertisementOf(nonce, objects(), standby), ...standby };
      await claimName({ ...common, registry, advertising, advertisement, timeoutMs });
    }
    isServing = true;
    say();
    await advertising.settled(timeoutMs);
  } catch (error) {
    close();
    throw error instanceof AppError && error.code === 'RPC_TIMEOUT'
      ? new AppError('BUS_UNAVAILABLE', `${plugin} was not started: the broker did not answer`, { cause: error })
      : error;
  }

  let before = role();
  const objectsChanged = (): void => {
    say();
    const now = role();
    if (now.role !== before.role || now.term !== before.term) {
      state.review();
      members.review();
    }
    before = now;
  };

  return {
    plugin,
    incarnation,
    plugins: pluginsPort({ ...deps, caller: plugin }),
    events: { publish: events.publish, isHeard: events.isHeard, subscribe },
    state,
    members,
    objectsChanged,
    settled: advertising.settled,
    stop: async () => {
      const late = (error: unknown): void => log.warn({ err: error, plugin }, 'plugin left the bus without goodbye');
      const drained = isWriting() ? [state.drain(stopTimeoutMs), members.drain(stopTimeoutMs)] : [];
      await Promise.all([...drained, advertising.withdraw(stopTimeoutMs)]).catch(late);
      close();
      onChange();
    },
    find: methodFinder(plugin, objects),
    role,
    heartbeat: state.heartbeat,
    badCount: server.badCount,
  };
};
