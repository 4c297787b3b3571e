import { mkdir } from 'node:fs/promises';
import type { Bus, BusPlugin, PluginRole } from '@infrakit/bus';
import { AppError, toAppError } from '@infrakit/core';
import { openJournal } from '@infrakit/manager';
import { type Clock, serial } from '@infrakit/runtime';
import type {
  BrokerAccess,
  LeaderState,
  Log,
  PluginDefinition,
  PluginObject,
  RunningPlugin,
  Store,
} from '@infrakit/spi';
import { withDeadline } from '@infrakit/spi';
import type { Subscription } from 'rxjs';
import { type WatchedState, watchState } from './health.ts';
import type { Home } from './home.ts';
import { deathMs, enter, isDead, leave, nameLeadership, type ProcessPlace, takeName } from './name-claim.ts';
import type { PluginStatus } from './process-control.ts';
import { untilFound } from './waiting.ts';

/** A plugin that a host is to run. */
export interface PluginToRun {
  readonly definition: PluginDefinition;
  readonly name: string;
  readonly options: unknown;
  readonly eventQos: 0 | 1;
  /** Whether it waits for the name instead of being refused, where its kind has leaders. */
  readonly isStandby: boolean;
}

export interface PluginLifeDeps {
  readonly bus: Bus;
  readonly home: Home | null;
  readonly store: Store;
  readonly stackId: string;
  readonly broker: BrokerAccess;
  readonly variable: (name: string) => string | undefined;
  readonly place: ProcessPlace;
  readonly clock: Clock;
  readonly random: () => number;
  readonly newId: () => string;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Until a plugin must have started, in ms. */
  readonly startTimeoutMs: number;
}

/** A plugin of this process, from its claim to its end. */
export interface PluginLife {
  readonly name: string;
  readonly status: () => PluginStatus;
  /** Ends it within `timeoutMs`; one that does not end in time is left behind, which is logged. */
  readonly end: (timeoutMs: number) => Promise<void>;
  /** Takes it off the bus and gives its name back, once it has ended; within a few seconds. */
  readonly leave: () => Promise<void>;
}

/** What runs while a plugin leads. */
interface Running {
  readonly plugin: RunningPlugin;
  readonly watched: WatchedState;
  readonly closeJournal: () => Promise<void>;
}

const retryMs = 1_000;
const lookEveryMs = 50;

/**
 * Brings a plugin up: takes its name in the home and on the bus, gives it its ports and starts it; what has leaders may wait
 * as a standby instead. Errors: `PLUGIN_CLAIMED` naming the host and pid of who has the name, `BUS_UNAVAILABLE`, whatever
 * the plugin says; nothing is left of it then.
 */
export const startPluginLife = async (wanted: PluginToRun, deps: PluginLifeDeps): Promise<PluginLife> => {
  const { definition, name, eventQos } = wanted;
  const { bus, home, place, clock, log, signal, startTimeoutMs } = deps;
  const { kind } = definition;
  const mayWait = wanted.isStandby && definition.isSingle;
  const waits = { after: clock.after, nowMs: clock.now, signal };
  const inTurn = serial();
  const leadership = nameLeadership(home, name, { after: clock.after, log });
  let term: number | undefined;
  let running: Running | undefined;
  let objects: readonly PluginObject[] = [];
  let [isServing, isStopping] = [false, false];

  /** Until it has started it answers nothing: to others it is not there yet. It ends as what it was, so that its last words count. */
  const role = (): PluginRole => {
    if (!isServing) return { role: 'standby' };
    return definition.isSingle ? { role: 'active', ...(term === undefined ? {} : { term }) } : { role: 'active' };
  };
  const within = <T>(what: string, timeoutMs: number, work: () => Promise<T>): Promise<T> =>
    withDeadline(work, { after: clock.after, what, timeoutMs });

  const claimOnBus = async (): Promise<BusPlugin> => {
    const attempt = async (): Promise<BusPlugin | undefined> => {
      try {
        return await bus.start(name, {
          isSingle: mayWait,
          objects: () => objects,
          role,
          eventQos,
          timeoutMs: startTimeoutMs,
        });
      } catch (thrown) {
        const { code, facts } = toAppError(thrown);
        const holder = { host: String(facts.host), pid: Number(facts.pid) };
        // Killed a moment ago: its will is on the way.
        if (code === 'PLUGIN_CLAIMED' && isDead(holder, place)) return undefined;
        throw thrown;
      }
    };
    const claimed = await untilFound(attempt, { everyMs: lookEveryMs, timeoutMs: deathMs }, waits);
    if (claimed !== undefined) return claimed;
    throw new AppError('PLUGIN_CLAIMED', `${name} is still on the bus for a process of this machine that has ended`);
  };

  const begin = async (busPlugin: BusPlugin): Promise<void> => {
    const { journal, close: closeJournal } = await openJournal(home?.journals ?? null, name, log);
    const watched = watchState(busPlugin.state, clock.now);
    const refresh = (): void => {
      if (running === undefined) return;
      objects = running.plugin.objects();
      busPlugin.objectsChanged();
    };
    try {
      const plugin = await within(`starting ${name}`, startTimeoutMs, () =>
        definition.start({
          name,
          options: wanted.options,
          stackId: deps.stackId,
          stateDir: async () => {
            if (home === null) return null;
            const folder = home.stateOf(kind, name);
            await mkdir(folder, { recursive: true, mode: 0o700 });
            return folder;
          },
          plugins: busPlugin.plugins,
          events: busPlugin.events,
          state: watched.state,
          members: busPlugin.members,
          journal,
          store: deps.store,
          broker: deps.broker,
          variable: deps.variable,
          log,
          nowMs: clock.now,
          random: deps.random,
          newId: deps.newId,
          objectsChanged: refresh,
        }),
      );
      running = { plugin, watched, closeJournal };
      isServing = true;
      refresh();
    } catch (thrown) {
      await closeJournal();
      const error = toAppError(thrown);
      // What is no error of ours does not say whose it is.
      throw error.code === 'INTERNAL'
        ? new AppError('INTERNAL', `${name} did not start: ${error.message}`, { cause: thrown })
        : error;
    }
  };

  const end = async (timeoutMs: number): Promise<void> => {
    const ending = running;
    running = undefined;
    if (ending === undefined) return;
    try {
      await within(`stopping ${name}`, timeoutMs, ending.plugin.stop);
    } catch (error) {
      log.warn({ err: error }, 'the plugin did not stop in order');
    }
    objects = [];
    await ending.closeJournal();
  };

  /** A standby that leads from now on, or one that leads no longer. */
  const follow = async (state: LeaderState, busPlugin: BusPlugin): Promise<void> => {
    const next = state.kind === 'leading' ? state.term : undefined;
    if (isStopping || next === term) return;
    isServing = false;
    await end(startTimeoutMs);
    term = next;
    busPlugin.objectsChanged();
    if (term === undefined) return;
    log.info({ term }, 'leading');
    try {
      await begin(busPlugin);
    } catch (error) {
      log.error({ err: error }, 'the plugin could not be started; somebody else may lead');
      term = undefined;
      busPlugin.objectsChanged();
      await leave(leadership);
      clock.after(retryMs, () => {
        if (!isStopping)
          enter(leadership, place, signal).catch((again: unknown) =>
            log.error({ err: again }, 'no candidate any more'),
          );
      });
    }
  };

  if (!mayWait) term = await takeName(leadership, name, place, waits);
  let busPlugin: BusPlugin | undefined;
  let following: Subscription | undefined;
  try {
    const claimed = await claimOnBus();
    busPlugin = claimed;
    if (mayWait) {
      await enter(leadership, place, signal);
      following = leadership.watch().subscribe((state) => void inTurn(() => follow(state, claimed)));
      await inTurn(async () => undefined);
    } else {
      await begin(claimed);
      await claimed.settled(startTimeoutMs);
    }
  } catch (error) {
    await busPlugin?.stop();
    await leave(leadership);
    throw error;
  }
  const onBus = busPlugin;
  return {
    name,
    status: () => ({ name, kind, role: role().role, health: running?.watched.health() ?? [] }),
    end: async (timeoutMs) => {
      isStopping = true;
      following?.unsubscribe();
      await inTurn(() => end(timeoutMs));
    },
    leave: async () => {
      await onBus.stop();
      await leave(leadership);
    },
  };
};
