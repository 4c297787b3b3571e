import {
  AppError,
  type Departure,
  type DesiredEntry,
  digest,
  type InstanceDescription,
  type Key,
  type ObservedEntry,
  ownerLabel,
  ownershipOf,
  ownerTags,
  reservedTags,
} from '@infrakit/core';
import {
  type CycleMemory,
  type CycleOutcome,
  cycleMemory,
  ledgerStore,
  loop,
  type Rule,
  type RuleSettings,
  type Source,
  seededRandom,
  virtualClock,
  workerPool,
} from '@infrakit/runtime';
import {
  direct,
  faulty,
  type Instance,
  type InstanceFaults,
  instanceInterface,
  type Journal,
  memoryInstance,
  memoryJournal,
  memoryStorage,
  memoryWorld,
  withDeadline,
} from '@infrakit/spi';
import { Subject } from 'rxjs';

/** A member of a source: `key` null cannot be computed; left out it is the id. */
export interface Item {
  readonly id: string;
  readonly key?: string | null;
  readonly content?: string;
}

/** What a law test turns: everything not given is as a rule has it by default. */
export interface WorldOptions {
  readonly settings?: Partial<RuleSettings>;
  readonly hasKeys?: boolean;
  readonly storedSpecsBack?: boolean;
  readonly allowUntaggedDestroy?: boolean;
  readonly seed?: number;
  readonly ruleName?: string;
  readonly patienceMs?: number;
  readonly concurrency?: number;
}

const defaults: RuleSettings = {
  policy: 'sync',
  onChange: 'keep',
  sourcePolicy: 'Quarantine',
  enrollmentPolicy: 'Quarantine',
  order: 'adds-first',
  maxDestroyPercent: 30,
  maxDestroyFloor: 3,
  callTimeoutMs: 10_000,
  graceMs: 30_000,
};

const timing = { quietMs: 100, maxWaitMs: 1_000, syncIntervalMs: 5_000 };

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

const keyOfItem = (item: Item): Key =>
  item.key === null
    ? { kind: 'unknown', reason: `no key for ${item.id}` }
    : { kind: 'known', value: item.key ?? item.id };

const ids = (names: readonly string[]): Item[] => names.map((id) => ({ id }));

/** `count` items named `<prefix>1` …, all of them of width 5 so that they sort. */
export const items = (count: number, prefix = 'h'): Item[] =>
  ids(Array.from({ length: count }, (_, n) => `${prefix}${String(n + 1).padStart(5, '0')}`));

/** A source known as a whole: a group that wants as many as it has, unless told otherwise. */
export const known = (
  members: readonly Item[],
  facts: Partial<Extract<Source<Item>, { kind: 'known' }>> = {},
): Source<Item> => ({
  kind: 'known',
  items: members,
  count: members.length,
  target: members.length,
  ...facts,
});

/** Departures of these ids, for a cause that explains their going. */
export const departed = (names: readonly string[], cause: Departure['Cause'] = 'scale', revision = 1): Departure[] =>
  names.map((ID) => ({ ID, Cause: cause, Revision: revision }));

/** One rule between a source in memory and an instance plugin in memory, on a clock that only the test moves. */
export const lawWorld = (options: WorldOptions = {}) => {
  const clock = virtualClock();
  const random = seededRandom(options.seed ?? 1);
  const world = memoryWorld();
  const faults: InstanceFaults = {};
  const storage = memoryStorage();
  const writes: string[] = [];
  const journalFaults: { write?: boolean; read?: boolean; stall?: boolean } = {};
  const ruleName = options.ruleName ?? 'nfs';
  const owner = ownerLabel('stack', 'enrollment', ruleName);
  const settings = { ...defaults, ...options.settings };
  const pool = workerPool({ concurrency: options.concurrency ?? 64 });

  const journal: Journal = (() => {
    const plain = memoryJournal(storage, 'enrollment');
    const fail = async (): Promise<never> => {
      throw new AppError('STORE_UNAVAILABLE', 'injected fault: no store');
    };
    return {
      ...plain,
      read: (params, ctx) => (journalFaults.read ? fail() : plain.read(params, ctx)),
      write: (params, ctx) => {
        if (journalFaults.write) return fail();
        if (journalFaults.stall) return new Promise(() => {});
        writes.push(`journal ${params.key}`);
        return plain.write(params, ctx);
      },
    };
  })();

  const recorded = (instance: Instance): Instance => ({
    ...instance,
    provision: (params, ctx) => {
      writes.push(`provision ${params.spec.Tags[reservedTags.enrollmentSourceId]}`);
      return instance.provision(params, ctx);
    },
    label: (params, ctx) => {
      writes.push(`label ${params.id}`);
      return instance.label(params, ctx);
    },
    destroy: (params, ctx) => {
      writes.push(`destroy ${world.find(params.id)?.description.Tags?.[reservedTags.enrollmentSourceId] ?? params.id}`);
      return instance.destroy(params, ctx);
    },
  });
  const withoutKeys = (instance: Instance): Instance => ({
    ...instance,
    provision: (params, { idempotencyKey: _, ...ctx }) => instance.provision(params, ctx),
  });
  const plain = memoryInstance({ world }).instance;
  const sink = direct(
    instanceInterface,
    recorded(faulty(options.hasKeys === false ? withoutKeys(plain) : plain, faults, { after: clock.after })),
    { after: clock.after },
  );

  let source: Source<Item> | (() => Promise<Source<Item>>) = known([]);
  let storedSpecsBack = options.storedSpecsBack ?? true;
  const allowUntaggedDestroy = options.allowUntaggedDestroy ?? false;

  const observe = (reading: Source<Item>, description: InstanceDescription): ObservedEntry => {
    const tags = description.Tags;
    const sourceId = tags?.[reservedTags.enrollmentSourceId];
    const byTag = reading.kind === 'unknown' ? undefined : reading.items.find((item) => item.id === sourceId);
    const override = tags?.key;
    const key: Key =
      override !== undefined
        ? override === ''
          ? { kind: 'unknown', reason: 'empty key' }
          : { kind: 'known', value: override }
        : byTag !== undefined
          ? keyOfItem(byTag)
          : sourceId !== undefined
            ? { kind: 'known', value: sourceId }
            : { kind: 'unknown', reason: 'no sourceID' };
    const ownership = ownershipOf(tags, {
      owner,
      rule: ruleName,
      keyKnown: key.kind === 'known',
      adopted: false,
      allowUntaggedDestroy,
      storedSpecsBack,
    });
    const content = tags?.content;
    return {
      id: description.ID,
      key,
      ownership,
      ...(sourceId === undefined ? {} : { sourceId }),
      ...(content === undefined ? {} : { content }),
    };
  };

  const rule = (revision: number): Rule<Item, InstanceDescription> => ({
    name: `enrollment/${ruleName}`,
    owner,
    settings,
    revision,
    readSource: async () => (typeof source === 'function' ? source() : source),
    readSink: async (ctx) => {
      const listing = await sink.describe({ tags: {}, properties: false }, ctx);
      if (listing.kind === 'unchanged') throw new AppError('RESULT_INVALID', 'unchanged without a digest');
      return listing.instances;
    },
    keys: (reading, observed) => {
      const list = reading.kind === 'unknown' ? [] : reading.items;
      const byId = new Map(list.map((item) => [item.id, item]));
      const entries = list.map(
        (item): DesiredEntry => ({
          id: item.id,
          key: keyOfItem(item),
          ...(item.content === undefined ? {} : { content: item.content }),
        }),
      );
      return {
        source: reading.kind === 'unknown' ? reading : { ...reading, entries },
        observed: observed.map((description) => observe(reading, description)),
        itemOf: (id) => byId.get(id),
      };
    },
    contentOf: (item) => item.content ?? digest(item.id),
    create: async (item, ctx) => {
      const Tags = {
        ...ownerTags(owner, ruleName, item.id),
        ...(item.content === undefined ? {} : { content: item.content }),
      };
      const spec = { Properties: { host: item.id }, Tags, Init: '', LogicalID: null, Attachments: null };
      return (await sink.provision({ spec }, ctx)).id;
    },
    label: async (id, sourceId, ctx) => {
      await sink.label({ id, labels: ownerTags(owner, ruleName, sourceId) }, ctx);
    },
    destroy: async (id, reason, ctx) => {
      await sink.destroy({ id, context: { Reason: reason } }, ctx);
    },
  });

  let running: { memory: CycleMemory; triggers: Subject<void>; stop: () => void } | undefined;
  const outcomes: CycleOutcome[] = [];
  let cycles = 0;

  const store = () => ledgerStore(journal, `enrollment/${ruleName}`);
  const start = (revision = 1): void => {
    const memory = cycleMemory(store());
    const triggers = new Subject<void>();
    const deps = {
      clock,
      random,
      pool,
      log: silent,
      newId: () => `c${cycles++}`,
      patienceMs: options.patienceMs ?? 1_000,
    };
    const subscription = loop(rule(revision), { memory, deps, timing }, triggers).subscribe((outcome) => {
      outcomes.push(outcome);
    });
    running = { memory, triggers, stop: () => subscription.unsubscribe() };
  };
  const kill = (): void => {
    running?.stop();
    running = undefined;
  };

  const enrolled = (): string[] =>
    world
      .all()
      .filter((description) => description.Tags?.[reservedTags.enrollmentOwner] === owner)
      .map((description) => description.Tags?.[reservedTags.enrollmentSourceId] ?? '')
      .sort();

  return {
    clock,
    world,
    faults,
    journalFaults,
    writes,
    outcomes,
    storage,
    owner,
    ruleName,
    settings,
    pool,
    /** Ids of the source that have an entry of ours in the sink, as often as they have one. */
    enrolled,
    /** Sets what the source says from now on; nobody is told. */
    setSource: (next: typeof source): void => {
      source = next;
    },
    setStoredSpecsBack: (isBack: boolean): void => {
      storedSpecsBack = isBack;
    },
    trigger: (): void => running?.triggers.next(),
    start,
    kill,
    /** A crash and a new start with what is durable. */
    restart: (revision = 1): void => {
      kill();
      start(revision);
    },
    /** Moves time until the loop has looked again, or for `ms`. */
    run: (ms = 6_000): Promise<void> => clock.advance(ms),
    last: (): CycleOutcome => {
      const outcome = outcomes.at(-1);
      if (outcome === undefined) throw new Error('no cycle has ended yet');
      return outcome;
    },
    /** Enrolls `members` and checks nothing: the start of most law tests. */
    enroll: async (members: readonly Item[]): Promise<void> => {
      source = known(members);
      if (running === undefined) start();
      running?.triggers.next();
      await clock.advance(12_000);
      writes.length = 0;
      outcomes.length = 0;
    },
    /** The budget record as it is on disk. */
    ledger: store,
    journal,
    /** Bounds a promise in real time, so that a test of hanging never hangs. */
    soon: <T>(work: Promise<T>): Promise<T> =>
      withDeadline(() => work, {
        what: 'the test',
        timeoutMs: 5_000,
        after: (ms, call) => {
          const timer = setTimeout(call, ms);
          return () => clearTimeout(timer);
        },
      }),
  };
};

/** What {@link lawWorld} gives. */
export type LawWorld = ReturnType<typeof lawWorld>;
