import {
  AppError,
  type Event,
  type Member,
  type MemberIndex,
  type MembersAnswer,
  type Membership,
  type Spec,
} from '@infrakit/core';
import { seededRandom, type VirtualClock, virtualClock, workerPool } from '@infrakit/runtime';
import {
  direct,
  type Flavor,
  faulty,
  type Group,
  groupInterface,
  type Instance,
  type InstanceFaults,
  type InterfaceDescription,
  type Journal,
  type MemoryWorld,
  memoryFlavor,
  memoryInstance,
  memoryJournal,
  memoryStorage,
  memoryWorld,
  type ObjectState,
  type Plugins,
  type Presence,
  type SpiOf,
  testingContext,
} from '@infrakit/spi';
import { BehaviorSubject, NEVER } from 'rxjs';
import { type GroupController, groupController } from './group-controller.ts';

/** What a test of groups turns; everything else is as by default. */
export interface GroupWorldOptions {
  readonly world?: MemoryWorld;
  readonly isRelabelRefused?: boolean;
  readonly self?: string;
  readonly clock?: VirtualClock;
  readonly perQueue?: number;
  readonly hasKeys?: boolean;
  readonly faultsOf?: (properties: unknown) => readonly string[];
  /** Around every call to the sink, the flavor and the journal: a crash or a lost answer is played here. */
  readonly around?: <T>(call: string, act: () => Promise<T>) => Promise<T>;
}

/** What the bus was told. */
export interface Told {
  readonly events: Event[];
  readonly members: Map<string, readonly Member[]>;
  readonly states: Map<string, ObjectState>;
  /** How many times something was published. */
  count: number;
}

type Known = Extract<Membership, { readonly kind: 'known' }>;

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** The spec of a group of that size; another `n` is another configuration. */
export const sizedSpec = (name: string, Size: number, n = 1): Spec => ({
  kind: 'group',
  metadata: { name },
  properties: {
    Allocation: { Size },
    Instance: { Plugin: 'sim/compute', Properties: { n } },
    Flavor: { Plugin: 'vanilla', Properties: { Init: ['hello'], Tags: { tier: 'test' } } },
  },
});

/** The spec of a group with one member for each logical id. */
export const quorumSpec = (name: string, LogicalIDs: readonly string[], n = 1): Spec => ({
  ...sizedSpec(name, 0, n),
  properties: { ...(sizedSpec(name, 0, n).properties as object), Allocation: { LogicalIDs } },
});

/** A group controller between instances and flavors in memory, on a clock that only the test moves. */
export const groupWorld = (options: GroupWorldOptions = {}) => {
  const clock = options.clock ?? virtualClock(Date.UTC(2030, 0, 1));
  const world = options.world ?? memoryWorld();
  const faults: InstanceFaults = {};
  const storage = memoryStorage();
  const writes: string[] = [];
  const calls: string[] = [];
  const prepared: MemberIndex[] = [];
  const around = options.around ?? ((_call, act) => act());
  const after = clock.after;
  const { flavor: plainFlavor, world: flavorWorld } = memoryFlavor();
  const drainFaults: { error?: boolean } = {};
  const presence = new Map<string, BehaviorSubject<Presence>>();
  const presenceOf = (name: string): BehaviorSubject<Presence> => {
    const first: Presence = { kind: 'online', plugin: name, incarnation: 'first', interfaces: [] };
    const known = presence.get(name) ?? new BehaviorSubject<Presence>(first);
    presence.set(name, known);
    return known;
  };
  const offline = new Set<string>();
  const told: Told = { events: [], members: new Map(), states: new Map(), count: 0 };
  let starts = 0;

  const { instance: bare } = memoryInstance({
    world,
    ...(options.isRelabelRefused !== undefined && { isRelabelRefused: options.isRelabelRefused }),
    ...(options.faultsOf !== undefined && { faultsOf: options.faultsOf }),
  });
  const plain: Instance =
    options.hasKeys === false
      ? { ...bare, provision: (params, { idempotencyKey: _, ...ctx }) => bare.provision(params, ctx) }
      : bare;
  const sink = faulty(plain, faults, { after });
  /** All that one process reaches; once it is killed, nothing it calls acts or answers any more. */
  const reach = (isMine: () => boolean) => {
    const mine = async <T>(call: string, run: () => Promise<T>): Promise<T> => {
      if (!isMine()) return new Promise(() => undefined);
      const answer = await around(call, run);
      return isMine() ? answer : new Promise(() => undefined);
    };
    const act = <T>(call: string, run: () => Promise<T>): Promise<T> => {
      if (isMine()) calls.push(call);
      return mine(call, run);
    };
    const instance: Instance = {
      validate: (params, ctx) => act('validate', () => sink.validate(params, ctx)),
      describe: (params, ctx) => act('describe', () => sink.describe(params, ctx)),
      provision: (params, ctx) =>
        act(`provision ${params.spec.Tags['infrakit.slot'] ?? params.spec.LogicalID}`, () =>
          sink.provision(params, ctx),
        ),
      label: (params, ctx) => act(`label ${params.id}`, () => sink.label(params, ctx)),
      destroy: (params, ctx) => act(`destroy ${params.id} ${params.context.Reason}`, () => sink.destroy(params, ctx)),
    };
    const flavor: Flavor = {
      ...plainFlavor,
      prepare: (params, ctx) => {
        prepared.push(params.index);
        return plainFlavor.prepare(params, ctx);
      },
      drain: (params, ctx) =>
        act(`drain ${params.instance.ID}`, async () => {
          const answer = await plainFlavor.drain(params, ctx);
          if (drainFaults.error === true) throw new AppError('INSTANCE_FAILED', 'injected fault: no drain');
          return answer;
        }),
    };
    const journal: Journal = (() => {
      const own = memoryJournal(storage, 'group');
      return {
        ...own,
        read: (params, ctx) => mine('read', () => own.read(params, ctx)),
        write: (params, ctx) =>
          mine('write', () => {
            writes.push(params.key);
            return own.write(params, ctx);
          }),
      };
    })();

    const implementations = new Map<string, unknown>([
      ['Instance sim/compute', instance],
      ['Flavor vanilla', flavor],
    ]);
    const absent = (name: string): unknown =>
      new Proxy({}, { get: () => () => Promise.reject(new AppError('PLUGIN_UNKNOWN', `nothing answers to ${name}`)) });
    const plugins: Plugins = {
      resolve: <I extends InterfaceDescription>(description: I, name: string): SpiOf<I> => {
        const found = implementations.get(`${description.name} ${name}`);
        if (found === undefined) return absent(name) as SpiOf<I>;
        const [online, away] = [direct(description, found as SpiOf<I>, { after }), absent(name) as SpiOf<I>];
        return new Proxy({} as SpiOf<I>, {
          get: (_target, method) => Reflect.get(offline.has(name) ? away : online, method),
        });
      },
      watch: (name) => presenceOf(name),
    };
    return { plugins, journal };
  };

  let running: GroupController | undefined;
  let pool = workerPool({ concurrency: 256 });
  const alive = (): GroupController => {
    if (running === undefined) throw new Error('no group controller is running');
    return running;
  };

  const start = async (): Promise<void> => {
    starts += 1;
    const mine = starts;
    const isMine = (): boolean => mine === starts;
    const guarded =
      <A extends unknown[]>(call: (...args: A) => void) =>
      (...args: A): void => {
        if (isMine()) call(...args);
      };
    let ids = 0;
    pool = workerPool({ concurrency: 256, ...(options.perQueue !== undefined && { perQueue: options.perQueue }) });
    const { plugins, journal } = reach(isMine);
    running = await groupController({
      name: 'group',
      stackId: 'stack',
      plugins,
      journal,
      events: {
        publish: guarded((event: Event) => {
          told.count += 1;
          told.events.push(event);
        }),
        subscribe: () => NEVER,
      },
      members: {
        publish: guarded((group: string, list: readonly Member[]) => {
          told.count += 1;
          told.members.set(group, list);
        }),
        clear: guarded((group: string) => {
          told.members.delete(group);
        }),
      },
      state: {
        publish: guarded((object: string, state: ObjectState) => {
          told.states.set(object, state);
        }),
        clear: guarded((object: string) => {
          told.states.delete(object);
        }),
      },
      log: silent,
      clock,
      random: seededRandom(starts),
      newId: () => `start${mine}-${++ids}`,
      pool,
      self: options.self,
      pollIntervalMs: 10_000,
      changed: () => {},
    });
  };

  const ctx = testingContext({ timeoutMs: 30_000 });
  /** A call that may need time to go on before it answers. */
  const during = async <T>(call: Promise<T>, ms = 0): Promise<T> => {
    const settled = call.then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    await clock.advance(ms);
    const ended = await settled;
    if ('error' in ended) throw ended.error;
    return ended.value;
  };
  const group = (): Group => direct(groupInterface, alive().group, { after });
  const answer = (name = 'cattle', sinceRevision = 0): Promise<MembersAnswer> =>
    group().members({ name, sinceRevision }, ctx);
  const whole = async (name = 'cattle', sinceRevision = 0) => {
    const found = await answer(name, sinceRevision);
    if (found.kind !== 'members') throw new Error('members were asked for in whole');
    return found;
  };

  return {
    clock,
    world,
    flavorWorld,
    faults,
    drainFaults,
    offline,
    /** A plugin that went away is there again, as another incarnation. */
    bring: (name: string): void =>
      presenceOf(name).next({ kind: 'online', plugin: name, incarnation: `again ${clock.now()}`, interfaces: [] }),
    storage,
    /** Keys of the journal as they were written, and all calls to the sink and drains, in order. */
    writes,
    calls,
    /** For which places members were prepared. */
    prepared,
    told,
    ctx,
    start,
    /** A crash: nothing of the old process is heard of again. */
    kill: async (): Promise<void> => {
      const old = running;
      running = undefined;
      starts += 1;
      void old?.stop();
    },
    stop: (): Promise<void> => alive().stop(),
    group,
    controller: alive,
    during,
    /** Moves time. */
    run: (ms = 1_000): Promise<void> => clock.advance(ms),
    commit: (spec: Spec, revision = 1) => during(group().commit({ spec, revision }, ctx), 100),
    planLines: async (spec: Spec): Promise<readonly string[]> =>
      (await group().plan({ operation: 'commit', spec }, ctx)).plan.messages,
    whole,
    /** The membership, which must be known. */
    known: async (name = 'cattle'): Promise<Known> => {
      const { membership } = await whole(name);
      if (membership.kind !== 'known') throw new Error(`the membership is ${membership.kind}: ${membership.reason}`);
      return membership;
    },
    /** Ids in the sink with the group's tag, sorted. */
    ids: (name = 'cattle'): string[] =>
      world
        .all()
        .filter(({ Tags }) => Tags?.['infrakit.group'] === name)
        .map(({ ID }) => ID),
    tagsOf: (id: string) => world.find(id)?.description.Tags ?? {},
    state: async (name = 'cattle'): Promise<Record<string, unknown>> => {
      const { objects } = await group().describe({ search: { name } }, ctx);
      return (objects[0]?.state ?? {}) as Record<string, unknown>;
    },
    eventsOf: (kind: string, name = 'cattle'): Event[] =>
      told.events.filter(({ Topic }) => Topic === `${name}/member/${kind}`),
  };
};

/** What {@link groupWorld} gives. */
export type GroupWorld = ReturnType<typeof groupWorld>;
