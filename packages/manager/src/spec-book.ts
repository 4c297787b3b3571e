import { AppError } from '@infrakit/core';
import type { CallContext, Log, Store } from '@infrakit/spi';
import { SpecRecord as Schema, type SpecRecord, specKey, specPrefix } from './spec-record.ts';

/** All committed specs, durable; read from memory, written to the store. */
export interface SpecBook {
  readonly all: () => readonly SpecRecord[];
  readonly find: (target: string, name: string) => SpecRecord | undefined;
  /** A revision above every one that was given before. */
  readonly nextRevision: () => number;
  /** Durable when it resolves. */
  readonly put: (record: SpecRecord, ctx: CallContext) => Promise<void>;
  readonly remove: (target: string, name: string, ctx: CallContext) => Promise<void>;
}

/** The book of a store. A record that cannot be read is an error that names it: nothing is taken for "no specs". */
export const openSpecBook = async (store: Store, log: Log, ctx: CallContext): Promise<SpecBook> => {
  const records = new Map<string, SpecRecord>();
  let highest = 0;
  for (const { key, value, revision } of (await store.list({ prefix: specPrefix }, ctx)).records) {
    const parsed = Schema.safeParse(value);
    if (!parsed.success) {
      throw new AppError('STORE_CORRUPT', `the stored spec ${key} cannot be read: ${parsed.error.issues[0]?.message}`);
    }
    records.set(key, parsed.data);
    highest = Math.max(highest, revision, parsed.data.revision);
  }
  log.info({ specs: records.size }, 'stored specs were read');
  return {
    all: () => [...records.values()],
    find: (target, name) => records.get(specKey(target, name)),
    nextRevision: () => {
      highest += 1;
      return highest;
    },
    put: async (record, ctx_) => {
      const key = specKey(record.target, record.name);
      const { revision } = await store.write({ key, value: record }, ctx_);
      highest = Math.max(highest, revision);
      records.set(key, record);
    },
    remove: async (target, name, ctx_) => {
      const key = specKey(target, name);
      await store.remove({ key }, ctx_);
      records.delete(key);
    },
  };
};
