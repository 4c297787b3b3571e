import { compareUtf8, InstanceDescription, type Json } from '@infrakit/core';
import { openFactLog } from '@infrakit/runtime';
import { type Fencing, fencingTerms, frozenCopy, type Log } from '@infrakit/spi';
import { z } from 'zod';

/** A simulated instance: what describe shows, the key it was made for, and what it was asked for (GP-P13). */
export const Thing = z.strictObject({
  description: InstanceDescription,
  key: z.string().optional(),
  init: z.string(),
  attachments: z.array(z.strictObject({ ID: z.string(), Type: z.string() })).nullable(),
});
export type Thing = z.infer<typeof Thing>;

const Fact = z.union([
  z.strictObject({ put: Thing }),
  z.strictObject({ remove: z.string() }),
  z.strictObject({ lastId: z.string() }),
  z.strictObject({ scope: z.string(), term: z.number().int() }),
]);

/** The instances of one type of one simulator. A change is durable, then visible, then answered. */
export interface InstanceTable {
  readonly find: (id: string) => Thing | undefined;
  readonly findByKey: (key: string) => Thing | undefined;
  readonly count: () => number;
  /** All descriptions by id; the same array until something changes. */
  readonly all: () => readonly InstanceDescription[];
  readonly version: () => number;
  readonly put: (thing: Thing) => Promise<void>;
  readonly remove: (id: string) => Promise<void>;
  /** Decimal nanoseconds, rising and never given twice, also over restarts and when the clock is set back. */
  readonly newId: () => string;
  /** Refuses an older term than was ever seen in its scope with `TERM_STALE` (Law 12). */
  readonly admitTerm: (fencing: Fencing | undefined) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Opens a table kept at `path`, or in memory when it is null. */
export const openInstanceTable = async (
  path: string | null,
  deps: { readonly nowMs: () => number; readonly log: Log },
): Promise<InstanceTable> => {
  const things = new Map<string, Thing>();
  const byKey = new Map<string, string>();
  let lastId = 0n;
  const terms = fencingTerms();
  let version = 0;
  let sorted: readonly InstanceDescription[] | null = null;

  const raise = (id: string): void => {
    if (/^\d+$/.test(id) && BigInt(id) > lastId) lastId = BigInt(id);
  };
  const set = (thing: Thing): void => {
    things.set(thing.description.ID, frozenCopy(thing));
    if (thing.key !== undefined) byKey.set(thing.key, thing.description.ID);
    raise(thing.description.ID);
    version += 1;
    sorted = null;
  };
  const unset = (id: string): void => {
    const key = things.get(id)?.key;
    if (key !== undefined && byKey.get(key) === id) byKey.delete(key);
    things.delete(id);
    version += 1;
    sorted = null;
  };

  const { facts, factLog } = await openFactLog(path, deps.log);
  for (const json of facts) {
    const fact = Fact.safeParse(json);
    if (!fact.success) deps.log.warn({ path }, 'a record of another shape was left out');
    else if ('put' in fact.data) set(fact.data.put);
    else if ('remove' in fact.data) unset(fact.data.remove);
    else if ('lastId' in fact.data) raise(fact.data.lastId);
    else terms.admit(fact.data);
  }

  const trim = (): void =>
    factLog.trim(things.size, () => [
      { lastId: String(lastId) },
      ...terms.all().map(({ scope, term }): Json => ({ scope, term })),
      ...[...things.values()].map((thing): Json => ({ put: thing as unknown as Json })),
    ]);

  return {
    find: (id) => things.get(id),
    findByKey: (key) => {
      const id = byKey.get(key);
      return id === undefined ? undefined : things.get(id);
    },
    count: () => things.size,
    all: () => {
      sorted ??= Object.freeze(
        [...things.values()]
          .map(({ description }) => description)
          .sort((left, right) => compareUtf8(left.ID, right.ID)),
      );
      return sorted;
    },
    version: () => version,
    put: async (thing) => {
      await factLog.append({ put: thing as unknown as Json }, () => set(thing));
      trim();
    },
    remove: async (id) => {
      await factLog.append({ remove: id }, () => unset(id));
      trim();
    },
    newId: () => {
      const now = BigInt(Math.floor(deps.nowMs() * 1_000)) * 1_000n;
      lastId = now > lastId ? now : lastId + 1n;
      return String(lastId).padStart(19, '0');
    },
    admitTerm: async (fencing) => {
      if (fencing === undefined || !terms.admit(fencing)) return;
      await factLog.append({ scope: fencing.scope, term: fencing.term }, () => undefined);
    },
    close: factLog.close,
  };
};
