import {
  AppError,
  canonicalJson,
  digest as digestOf,
  type InstanceDescription,
  matchesTags,
  reservedTags,
  type Tags,
} from '@infrakit/core';
import type { CallContext, Instance, InstanceListing } from '@infrakit/spi';
import type { EndpointDeps } from './link/endpoint.ts';
import { findLoop, type Hop, loopText } from './mirror/loop-proof.ts';
import type { MirrorDrops, MirrorEngine, MirrorStatus } from './mirror/mirror-engine.ts';
import { parseMirror } from './mirror/mirror-parse.ts';
import type { MirrorRecord, MirrorTable } from './mirror/mirror-table.ts';
import { type Flow, hopOf } from './wire/flow.ts';

/** Where a mirror stands among those of its owner: of several that want a topic the one with the lowest rank gets it (GP-R10). */
export const rankTag = 'infrakit.repeater.rank';

/** What the mirrors of `<repeater>/topic` depend on. */
export interface TopicInstancesDeps extends EndpointDeps {
  readonly table: MirrorTable;
  readonly engine: MirrorEngine;
  /** Not the same over two starts. */
  readonly incarnation: string;
  readonly newId: () => string;
  readonly nowMs: () => number;
  /** Mirrors were added, changed or removed. */
  readonly changed: () => void;
}

/** A mirror with how it fares, for the rows of rules and for lists. */
export interface MirrorReport {
  readonly record: MirrorRecord;
  readonly status: MirrorStatus;
}

/** The object `<repeater>/topic`: mirrored topics as instances, and what only this process knows of them. */
export interface TopicInstances {
  readonly instance: Instance;
  /** Every mirror, by id. */
  readonly reports: () => readonly MirrorReport[];
  /** What every mirror has dropped. */
  readonly drops: () => readonly ({ readonly record: MirrorRecord } & MirrorDrops)[];
  /** The hops of mirrors, for the proof of loops; `isLeftOut` leaves some out. */
  readonly hops: (isLeftOut: (record: MirrorRecord) => boolean) => Hop[];
  /** Some mirror may fare differently: what describe shows of it is another one from now on. */
  readonly touched: () => void;
}

interface Running {
  readonly record: MirrorRecord;
  readonly flows: readonly Flow[];
  readonly hops: readonly Hop[];
}

type Listed = InstanceListing & { readonly kind: 'instances' };

const tagOf = (tags: Tags, name: string): string | undefined => (Object.hasOwn(tags, name) ? tags[name] : undefined);

/** Mirrors of one owner share topics out; one without an owner stands alone. */
const setOf = ({ ID, Tags }: Pick<MirrorRecord, 'ID' | 'Tags'>): string =>
  tagOf(Tags, reservedTags.enrollmentOwner) ?? `mirror ${ID}`;

const rankOf = (tags: Tags): number => {
  const rank = Number(tagOf(tags, rankTag) ?? 0);
  return Number.isFinite(rank) ? rank : 0;
};

/** Whether one is there to replace the other: both made for the same entry of the same owner. */
const isSameEntry = (left: Tags, right: Tags): boolean => {
  const [owner, id] = [tagOf(left, reservedTags.enrollmentOwner), tagOf(left, reservedTags.enrollmentSourceId)];
  const isTold = owner !== undefined && id !== undefined;
  return isTold && owner === right[reservedTags.enrollmentOwner] && id === right[reservedTags.enrollmentSourceId];
};

const loopError = (loop: NonNullable<ReturnType<typeof findLoop>>): AppError =>
  new AppError('INSTANCE_INVALID', `a message would go round for ever: ${loopText(loop)}`);

const nameOf = ({ mirror, Tags, ID }: MirrorRecord): string =>
  tagOf(Tags, reservedTags.enrollmentSourceId) ?? `${mirror.sourcetopic} (${ID})`;

/** Mirrored topics as instances (GP §2.2). Those that the table holds are started. */
export const topicInstances = (deps: TopicInstancesDeps): TopicInstances => {
  const { table, engine, incarnation, changed } = deps;
  /** What runs, also what is not in the table yet. */
  const flows = new Map<string, Running>();
  const making = new Map<string, Promise<{ id: string }>>();
  const listings = new Map<string, Listed>();
  let touches = 0;
  let listedVersion = '';

  const run = (record: MirrorRecord, own: readonly Flow[]): void => {
    const { ID: id, Tags: tags, lanes, createdMs } = record;
    flows.set(id, { record, flows: own, hops: own.map((flow) => hopOf(nameOf(record), flow)) });
    engine.put({ id, flows: own, set: setOf(record), rank: rankOf(tags), createdMs, lanes });
  };
  for (const record of table.all()) {
    try {
      run(record, parseMirror(record.mirror, deps).flows);
    } catch (error) {
      deps.log.error({ id: record.ID, err: error }, 'a stored mirror cannot run here');
    }
  }

  const existing = (id: string): MirrorRecord => {
    const record = table.find(id);
    if (record === undefined) throw new AppError('INSTANCE_NOT_FOUND', `not found ${id}`, { facts: { id } });
    return record;
  };
  const checkCaller = ({ signal }: CallContext): void => {
    if (signal.aborted) throw new AppError('RPC_CANCELLED', 'the caller gave up', { cause: signal.reason });
  };
  const hops: TopicInstances['hops'] = (isLeftOut) =>
    [...flows.values()].flatMap((running) =>
      isLeftOut(table.find(running.record.ID) ?? running.record) ? [] : running.hops,
    );

  const make = async ({ spec }: Parameters<Instance['provision']>[0], ctx: CallContext): Promise<{ id: string }> => {
    const { mirror, flows: own } = parseMirror(spec.Properties, deps);
    checkCaller(ctx);
    await table.admitTerm(ctx.fencing);
    const ID = deps.newId();
    const draft = { ID, Tags: spec.Tags, mirror };
    const others = hops(({ Tags: tags }) => isSameEntry(tags, spec.Tags));
    const name = tagOf(spec.Tags, reservedTags.enrollmentSourceId) ?? mirror.sourcetopic;
    const ownHops = own.map((flow) => hopOf(name, flow));
    const loop = findLoop([...others, ...ownHops], ownHops);
    if (loop !== null) throw loopError(loop);
    const record: MirrorRecord = {
      ...draft,
      LogicalID: spec.LogicalID,
      ...(ctx.idempotencyKey !== undefined && { key: ctx.idempotencyKey }),
      lanes: engine.place(own, setOf(draft)),
      createdMs: deps.nowMs(),
    };
    // Taken at once, so that the next one is placed and proved with this one there.
    run(record, own);
    try {
      await table.put(record);
    } catch (error) {
      flows.delete(ID);
      engine.remove(ID);
      throw error;
    }
    changed();
    return { id: ID };
  };

  const described = (record: MirrorRecord, hasProperties: boolean): InstanceDescription => ({
    ID: record.ID,
    LogicalID: record.LogicalID,
    Tags: record.Tags,
    State: engine.status(record.ID).state,
    Created: new Date(record.createdMs).toISOString(),
    ...(hasProperties && { Properties: record.mirror }),
  });

  const listing = (tags: Tags, hasProperties: boolean): Listed => {
    const version = `${table.version()}.${touches}`;
    if (version !== listedVersion) listings.clear();
    listedVersion = version;
    const query = canonicalJson([tags, hasProperties]);
    const known = listings.get(query);
    if (known !== undefined) return known;
    const instances = table
      .all()
      .filter((record) => matchesTags(record.Tags, tags))
      .map((record) => Object.freeze(described(record, hasProperties)));
    const digest = `${incarnation}.${version}.${digestOf(query)}`;
    const made: Listed = { kind: 'instances', digest, instances };
    listings.set(query, made);
    return made;
  };

  const instance: Instance = {
    validate: async ({ properties }) => {
      parseMirror(properties, deps);
      return {};
    },
    provision: async (params, ctx) => {
      const key = ctx.idempotencyKey;
      if (key === undefined) return make(params, ctx);
      const living = table.findByKey(key);
      if (living !== undefined) return { id: living.ID };
      const running = making.get(key) ?? make(params, ctx).finally(() => making.delete(key));
      making.set(key, running);
      return running;
    },
    label: async ({ id, labels }, ctx) => {
      checkCaller(ctx);
      await table.admitTerm(ctx.fencing);
      const record = existing(id);
      const next = { ...record, Tags: { ...record.Tags, ...labels } };
      await table.put(next);
      if (setOf(record) !== setOf(next) || rankOf(record.Tags) !== rankOf(next.Tags))
        run(next, flows.get(id)?.flows ?? []);
      changed();
      return {};
    },
    destroy: async ({ id }, ctx) => {
      checkCaller(ctx);
      existing(id);
      await table.admitTerm(ctx.fencing);
      await table.remove(id);
      flows.delete(id);
      engine.remove(id);
      changed();
      return {};
    },
    describe: async ({ tags, properties, digest }) => {
      const answer = listing(tags, properties);
      return answer.digest === digest ? { kind: 'unchanged', digest } : answer;
    },
  };
  return {
    instance,
    hops,
    reports: () => table.all().map((record) => ({ record, status: engine.status(record.ID) })),
    drops: () => table.all().map((record) => ({ record, ...engine.drops(record.ID) })),
    touched: () => {
      touches += 1;
    },
  };
};
