import { type InstanceDescription, reservedTags, type Spec, type SpecObject } from '@infrakit/core';
import { enrollmentDefinition, startEnrollment } from '@infrakit/enrollment';
import { seededRandom, virtualClock } from '@infrakit/runtime';
import {
  type CallContext,
  type Controller,
  controllerInterface,
  direct,
  faulty,
  type Group,
  groupInterface,
  type Instance,
  type InstanceFaults,
  instanceInterface,
  memoryGroup,
  memoryInstance,
  memoryJournal,
  memoryStorage,
  memoryStore,
  memoryWorld,
  type ObjectState,
  type RunningPlugin,
  testingContext,
} from '@infrakit/spi';
import { memoryEvents, memoryPlugins } from './ports.ts';

/** A call to a sink, in the words of EI §1.14. */
export type SinkCall =
  | { readonly call: 'provision'; readonly properties: unknown; readonly tags: Readonly<Record<string, string>> }
  | { readonly call: 'label' | 'destroy'; readonly id: string; readonly reason?: string }
  | {
      readonly call: 'describe';
      readonly tags: unknown;
      readonly properties: boolean;
      readonly hasDigest: boolean;
      readonly answer: string;
    };

/** Options of {@link enrollmentWorld}; whatever is left out is as in production. */
export interface EnrollmentWorldOptions {
  readonly storage?: Map<string, string>;
  /** What the plugin is started with, as a start document says it. */
  readonly start?: object;
  /** Around each call to the group; a source that hangs, lies or fails is played here. */
  readonly aroundGroup?: (group: Group) => Group;
}

const memoryGroupSpec = (name: string, Size: number): Spec => ({
  kind: 'group',
  metadata: { name },
  properties: {
    Allocation: { Size },
    Instance: { Plugin: 'memory', Properties: {} },
    Flavor: { Plugin: 'vanilla' },
  },
});

/** The enrollment controller between a group in memory and a sink in memory, on a clock that only the test moves. */
export const enrollmentWorld = async (options: EnrollmentWorldOptions = {}) => {
  const clock = virtualClock(1_700_000_000_000);
  const random = seededRandom(1);
  const ctx: CallContext = testingContext({ timeoutMs: 600_000 });
  const storage = options.storage ?? memoryStorage();
  const { plugins, serve, withdraw } = memoryPlugins(clock.after);
  const { events, published, emit } = memoryEvents();
  const states = new Map<string, ObjectState>();
  const logged: string[] = [];
  const world = memoryWorld();
  const faults: InstanceFaults = {};
  const calls: SinkCall[] = [];
  const { group: plainGroup, machines } = memoryGroup();

  const recorded = (instance: Instance): Instance => ({
    ...instance,
    provision: (params, own) => {
      calls.push({ call: 'provision', properties: params.spec.Properties, tags: params.spec.Tags });
      return instance.provision(params, own);
    },
    label: (params, own) => {
      calls.push({ call: 'label', id: params.id });
      return instance.label(params, own);
    },
    destroy: (params, own) => {
      calls.push({ call: 'destroy', id: params.id, reason: params.context.Reason });
      return instance.destroy(params, own);
    },
    describe: async (params, own) => {
      const listing = await instance.describe(params, own);
      calls.push({
        call: 'describe',
        tags: params.tags,
        properties: params.properties,
        hasDigest: params.digest !== undefined,
        answer: listing.kind,
      });
      return listing;
    },
  });
  const sink = recorded(faulty(memoryInstance({ world }).instance, faults, { after: clock.after }));

  const told = <T>(name: string, answer: Promise<T>): Promise<T> =>
    answer.finally(() => emit('group', `${name}/member/changed`));
  const tellingGroup: Group = {
    ...plainGroup,
    commit: (params, own) => told(params.spec.metadata.name, plainGroup.commit(params, own)),
    setSize: (params, own) => told(params.name, plainGroup.setSize(params, own)),
    destroyInstances: (params, own) => told(params.name, plainGroup.destroyInstances(params, own)),
    destroy: (params, own) => told(params.name, plainGroup.destroy(params, own)),
  };
  const group = (options.aroundGroup ?? ((same) => same))(tellingGroup);

  const serveSink = (): void => serve('nfs-auth/disk', instanceInterface, sink, 'nfs-auth');
  // As behind a manager: what is read and heard is the group itself.
  const serveGroup = (name: string): void => {
    for (const lookup of ['group', 'mystack']) serve(`${lookup}/${name}`, groupInterface, group, 'group');
  };
  serveSink();

  let objectsChanged = 0;
  let nonce = 0;
  const begin = async (): Promise<RunningPlugin> =>
    startEnrollment(
      {
        name: 'nfs',
        options: enrollmentDefinition.options.parse(options.start ?? {}),
        stackId: 'stack',
        stateDir: async () => null,
        broker: null,
        variable: () => undefined,
        plugins,
        events,
        state: {
          publish: (object, state) => {
            states.set(object, state);
          },
          clear: (object) => {
            states.delete(object);
          },
        },
        members: { publish: () => {}, clear: () => {} },
        journal: memoryJournal(storage, 'nfs'),
        store: memoryStore(),
        log: {
          debug: () => {},
          info: () => {},
          warn: (_facts, message) => logged.push(message),
          error: (_facts, message) => logged.push(message),
        },
        nowMs: clock.now,
        random,
        newId: () => {
          nonce += 1;
          return `c${nonce}`;
        },
        objectsChanged: () => {
          objectsChanged += 1;
        },
      },
      clock,
    );
  let running = await begin();

  const controller = (object = ''): Controller => {
    const found = running
      .objects()
      .find((one) => one.object === object && one.description.name === controllerInterface.name);
    if (found === undefined) throw new Error(`there is no object ${object}`);
    return direct(controllerInterface, found.implementation as Controller, { after: clock.after });
  };
  /** A call that may need time to pass to answer. */
  const during = async <T>(call: Promise<T>): Promise<T> => {
    const ended = { is: false };
    const end = (): void => {
      ended.is = true;
    };
    call.then(end, end);
    for (let turn = 0; turn < 5_000 && !ended.is; turn += 1) await clock.advance(ended.is ? 0 : 20);
    return call;
  };
  const own = (rule: string): readonly InstanceDescription[] =>
    world.all().filter(({ Tags }) => Tags?.[reservedTags.enrollmentOwner] === `stack/nfs/${rule}`);
  let revision = 0;

  return {
    clock,
    ctx,
    world,
    faults,
    calls,
    states,
    storage,
    published,
    logged,
    group,
    machines,
    serve,
    serveSink,
    serveGroup,
    withdraw,
    emit,
    controller,
    during,
    plugin: () => running,
    objectsChanged: () => objectsChanged,
    /** Moves time by 300 ms, which is enough for a burst of events to become acts. */
    soon: () => clock.advance(300),
    run: (ms = 8_000) => clock.advance(ms),
    /** Mutating calls to the sink so far, oldest first. */
    writes: () => calls.filter(({ call }) => call !== 'describe'),
    describes: () => calls.filter(({ call }) => call === 'describe'),
    /** Source ids that a rule has an entry for, sorted, as often as it has one. */
    enrolled: (rule = 'cattle-nfs'): string[] =>
      own(rule)
        .map(({ Tags }) => Tags?.[reservedTags.enrollmentSourceId] ?? '-')
        .sort(),
    commit: async (spec: Spec, at?: number): Promise<SpecObject> => {
      revision = at ?? revision + 1;
      return (await during(controller().commit({ spec, revision }, ctx))).object;
    },
    plan: async (spec: Spec) => (await during(controller().plan({ operation: 'commit', spec }, ctx))).plan,
    describe: async (name?: string): Promise<readonly SpecObject[]> =>
      (await controller().describe({ search: name === undefined ? {} : { name } }, ctx)).objects,
    makeGroup: async (name: string, size: number): Promise<string[]> => {
      await group.commit({ spec: memoryGroupSpec(name, size), revision: 1 }, ctx);
      serveGroup(name);
      return machines.members(name);
    },
    scale: async (name: string, size: number): Promise<void> => {
      await group.setSize({ name, size }, ctx);
    },
    /** The process ends between two awaits, and another one starts with what is durable. */
    restart: async (): Promise<void> => {
      await running.stop();
      running = await begin();
    },
    stop: () => during(running.stop()),
  };
};

/** What {@link enrollmentWorld} gives. */
export type EnrollmentWorld = Awaited<ReturnType<typeof enrollmentWorld>>;

/** A rule `cattle-nfs` of EI §7: each member of a group gets an authorisation. */
export const cattleNfs = (
  over: { readonly List?: unknown; readonly options?: object; readonly name?: string } = {},
): Spec => ({
  kind: 'enrollment',
  metadata: { name: over.name ?? 'cattle-nfs' },
  properties: {
    List: over.List ?? 'mystack/cattle',
    Instance: { Plugin: 'nfs-auth/disk', Properties: { host: '\\{\\{.ID\\}\\}', iops: 10 } },
  },
  options: { SourceKeySelector: '\\{\\{.ID\\}\\}', SyncInterval: '5s', ...over.options },
});
