import {
  AppError,
  approve,
  type DesiredEntry,
  digest,
  emptyLedger,
  type InstanceDescription,
  type Key,
  type ObservedEntry,
  ownerLabel,
  ownershipOf,
  ownerTags,
  reservedTags,
} from '@infrakit/core';
import {
  type CycleDeps,
  type CycleMemory,
  type CycleOutcome,
  cycleMemory,
  defaultRuleSettings,
  type Look,
  type LoopTiming,
  ledgerStore,
  look,
  loop,
  type Rule,
  type RuleSettings,
  type Source,
  seededRandom,
  virtualClock,
  workerPool,
} from '@infrakit/runtime';
import {
  type CallContext,
  direct,
  faulty,
  type Instance,
  type InstanceFaults,
  instanceInterface,
  type Journal,
  type MemoryWorld,
  memoryInstance,
  memoryJournal,
  memoryStorage,
  memoryWorld,
  withDeadline,
} from '@infrakit/spi';
import { Subject } from 'rxjs';
import { type Item, keyOfItem, known } from './source.ts';

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
  readonly timing?: Partial<LoopTiming>;
  /** A sink that is shared with another rule. */
  readonly world?: MemoryWorld;
  /** Parts of the rule that a test replaces. */
  readonly rule?: Partial<Rule<Item, InstanceDescription>>;
  /** Around every call to the sink and the journal; a crash or a lost answer is played here. */
  readonly around?: <T>(call: string, act: () => Promise<T>) => Promise<T>;
}

const defaults: RuleSettings = {
  ...defaultRuleSettings,
  callTimeoutMs: 10_000,
  maxCallTimeoutMs: 100_000,
};

const timing: LoopTiming = { quietMs: 100, maxWaitMs: 1_000, syncIntervalMs: 5_000 };

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** One rule between a source in memory and an instance plugin in memory, on a clock that only the test moves. */
export const lawWorld = (options: WorldOptions = {}) => {
  const clock = virtualClock();
  const random = seededRandom(options.seed ?? 1);
  const world = options.world ?? memoryWorld();
  const faults: InstanceFaults = {};
  const storage = memoryStorage();
  const writes: string[] = [];
  const journalFaults: { write?: 'error' | 'hang' | undefined; read?: 'error' | 'hang' | undefined } = {};
  const around = options.around ?? ((_call, act) => act());
  const load = { inFlight: 0, most: 0 };
  const ruleName = options.ruleName ?? 'nfs';
  const owner = ownerLabel('stack', 'enrollment', ruleName);
  const settings = { ...defaults, ...options.settings };
  const pool = workerPool({ concurrency: options.concurrency ?? 64 });

  const journal: Journal = (() => {
    const plain = memoryJournal(storage, 'enrollment');
    const suffer = <T>(fault: 'error' | 'hang' | undefined, act: () => Promise<T>): Promise<T> => {
      if (fault === 'hang') return new Promise(() => {});
      if (fault === 'error') return Promise.reject(new AppError('STORE_UNAVAILABLE', 'injected fault: no store'));
      return act();
    };
    return {
      ...plain,
      read: (params, ctx) => around('read', () => suffer(journalFaults.read, () => plain.read(params, ctx))),
      write: (params, ctx) =>
        around('write', () =>
          suffer(journalFaults.write, () => {
            writes.push(`journal ${params.key}`);
            return plain.write(params, ctx);
          }),
        ),
    };
  })();

  const counted = async <T>(call: string, act: () => Promise<T>): Promise<T> => {
    writes.push(call);
    load.inFlight += 1;
    load.most = Math.max(load.most, load.inFlight);
    try {
      return await around(call, act);
    } finally {
      load.inFlight -= 1;
    }
  };
  const nameOf = (id: string): string => world.find(id)?.description.Tags?.[reservedTags.enrollmentSourceId] ?? id;
  const recorded = (instance: Instance): Instance => ({
    ...instance,
    provision: (params, ctx) =>
      counted(`provision ${params.spec.Tags[reservedTags.enrollmentSourceId]}`, () => instance.provision(params, ctx)),
    label: (params, ctx) => counted(`label ${params.id}`, () => instance.label(params, ctx)),
    destroy: (params, ctx) => counted(`destroy ${nameOf(params.id)}`, () => instance.destroy(params, ctx)),
    describe: (params, ctx) => around('describe', () => instance.describe(params, ctx)),
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
    ...options.rule,
  });

  interface Running {
    readonly memory: CycleMemory;
    readonly triggers: Subject<void>;
    readonly deps: Omit<CycleDeps, 'wake'>;
    readonly kept: Rule<Item, InstanceDescription>;
    readonly stop: () => void;
  }
  let running: Running | undefined;
  const alive = (): Running => {
    if (running === undefined) throw new Error('no loop is running');
    return running;
  };
  const context = (): CallContext => ({ signal: new AbortController().signal, timeoutMs: settings.callTimeoutMs });
  const outcomes: CycleOutcome[] = [];
  let cycles = 0;
  let cycleMs = -1;
  let sameMoment = 0;

  const store = () => ledgerStore(journal, `enrollment/${ruleName}`);
  const start = (revision = 1): void => {
    const memory = cycleMemory(store());
    const triggers = new Subject<void>();
    const deps: Omit<CycleDeps, 'wake'> = {
      clock,
      random,
      pool,
      log: silent,
      newId: () => {
        sameMoment = clock.now() === cycleMs ? sameMoment + 1 : 0;
        cycleMs = clock.now();
        if (sameMoment > 100) throw new Error(`Law 8: the loop spins at ${cycleMs} ms`);
        return `c${cycles++}`;
      },
      patienceMs: options.patienceMs ?? 1_000,
    };
    const kept = rule(revision);
    const subscription = loop(kept, { memory, deps, timing: { ...timing, ...options.timing } }, triggers).subscribe(
      (outcome) => {
        outcomes.push(outcome);
      },
    );
    running = { memory, triggers, deps, kept, stop: () => subscription.unsubscribe() };
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
    /** Mutating calls to the sink that are in progress, and the most there ever were at once. */
    load,
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
    isAlive: (): boolean => running !== undefined,
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
      load.most = 0;
    },
    /** The budget record as it is on disk, by a reader of its own. */
    ledger: store,
    /** A commit of the rule (Law 6): durable, and then taken up by a new loop. `hasNewSource` if it changed the list. */
    commit: async (revision: number, hasNewSource: boolean): Promise<void> => {
      kill();
      await store().save({ ledger: emptyLedger, commit: hasNewSource ? { revision, ids: null } : null }, context());
      start(revision);
    },
    /** `approve <rule> [--plan <id>]`: `PLAN_STALE` when another plan is held. */
    approve: async (planId?: string): Promise<void> => {
      const { memory } = alive();
      const record = await memory.ledger.load(context());
      await memory.ledger.save({ ...record, ledger: approve(record.ledger, planId) }, context());
      running?.triggers.next();
    },
    /** The plan as it would be shown now; writes nothing (Law 3). */
    preview: async (): Promise<Look<Item>> => {
      const { memory, deps, kept } = alive();
      const seen = await look(kept, { memory, deps: { ...deps, wake: () => {} }, ctx: context() });
      if ('at' in seen) throw seen.error;
      return seen;
    },
    /** What the loop remembers between cycles. */
    memory: (): CycleMemory => alive().memory,
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
