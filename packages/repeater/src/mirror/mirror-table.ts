import { compareUtf8, type Json, Tags } from '@infrakit/core';
import { openFactLog } from '@infrakit/runtime';
import { type Fencing, fencingTerms, frozenCopy, type Log } from '@infrakit/spi';
import { z } from 'zod';
import { Mirror } from './mirror.ts';

/** A mirror as it is kept. Secrets are references; nothing else of them is ever in here. */
export const MirrorRecord = z.strictObject({
  ID: z.string().min(1),
  LogicalID: z.string().nullable(),
  Tags,
  mirror: Mirror,
  /** The key it was made for (Law 7). */
  key: z.string().optional(),
  lanes: z.array(z.number().int().min(0)),
  createdMs: z.number(),
});
export type MirrorRecord = z.infer<typeof MirrorRecord>;

const Fact = z.union([
  z.strictObject({ put: MirrorRecord }),
  z.strictObject({ remove: z.string() }),
  z.strictObject({ scope: z.string(), term: z.number().int() }),
]);

/** The mirrors of one repeater. A change is durable, then visible, then answered. */
export interface MirrorTable {
  readonly find: (id: string) => MirrorRecord | undefined;
  readonly findByKey: (key: string) => MirrorRecord | undefined;
  /** By id; the same array until something changes. */
  readonly all: () => readonly MirrorRecord[];
  readonly version: () => number;
  readonly put: (record: MirrorRecord) => Promise<void>;
  readonly remove: (id: string) => Promise<void>;
  /** Refuses an older term than was ever seen in its scope with `TERM_STALE` (Law 12). */
  readonly admitTerm: (fencing: Fencing | undefined) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Opens a table kept at `path`, or in memory when it is null. */
export const openMirrorTable = async (path: string | null, log: Log): Promise<MirrorTable> => {
  const records = new Map<string, MirrorRecord>();
  const byKey = new Map<string, string>();
  const terms = fencingTerms();
  let version = 0;
  let sorted: readonly MirrorRecord[] | null = null;

  const change = (): void => {
    version += 1;
    sorted = null;
  };
  const set = (record: MirrorRecord): void => {
    records.set(record.ID, frozenCopy(record));
    if (record.key !== undefined) byKey.set(record.key, record.ID);
    change();
  };
  const unset = (id: string): void => {
    const key = records.get(id)?.key;
    if (key !== undefined && byKey.get(key) === id) byKey.delete(key);
    records.delete(id);
    change();
  };

  const { facts, factLog } = await openFactLog(path, log);
  for (const json of facts) {
    const fact = Fact.safeParse(json);
    if (!fact.success) log.warn({ path }, 'a record of another shape was left out');
    else if ('put' in fact.data) set(fact.data.put);
    else if ('remove' in fact.data) unset(fact.data.remove);
    else terms.admit(fact.data);
  }
  const trim = (): void =>
    factLog.trim(records.size, () => [
      ...terms.all().map(({ scope, term }): Json => ({ scope, term })),
      ...[...records.values()].map((record): Json => ({ put: record as unknown as Json })),
    ]);

  return {
    find: (id) => records.get(id),
    findByKey: (key) => {
      const id = byKey.get(key);
      return id === undefined ? undefined : records.get(id);
    },
    all: () => {
      sorted ??= Object.freeze([...records.values()].sort((left, right) => compareUtf8(left.ID, right.ID)));
      return sorted;
    },
    version: () => version,
    put: async (record) => {
      await factLog.append({ put: record as unknown as Json }, () => set(record));
      trim();
    },
    remove: async (id) => {
      await factLog.append({ remove: id }, () => unset(id));
      trim();
    },
    admitTerm: async (fencing) => {
      if (fencing === undefined || !terms.admit(fencing)) return;
      await factLog.append({ scope: fencing.scope, term: fencing.term }, () => undefined);
    },
    close: factLog.close,
  };
};
