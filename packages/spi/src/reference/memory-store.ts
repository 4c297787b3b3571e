import { AppError, compareUtf8 } from '@infrakit/core';
import { Observable } from 'rxjs';
import type { CallContext } from '../call-context.ts';
import { type FencingTerms, fencingTerms } from '../fencing.ts';
import type { Store, StoreChange, StoreRecord } from '../store.ts';

/** What several stores share, and what outlives them: hand the same one to the next store to play a restart. */
export interface MemoryDisk {
  readonly records: Map<string, { readonly text: string; readonly revision: number }>;
  readonly listeners: Set<(change: StoreChange) => void>;
  /** Counts the writes of all keys. */
  revision: number;
  /** The highest terms that writes came with. */
  terms: FencingTerms;
}

/** An empty disk. */
export const memoryDisk = (): MemoryDisk => ({
  records: new Map(),
  listeners: new Set(),
  revision: 0,
  terms: fencingTerms(),
});

/** A {@link Store} in memory. Values are kept as JSON text; what JSON cannot say is `PARAMS_INVALID`. */
export const memoryStore = (disk: MemoryDisk = memoryDisk()): Store => {
  const recordOf = (key: string): StoreRecord | null => {
    const stored = disk.records.get(key);
    return stored === undefined ? null : { key, value: JSON.parse(stored.text), revision: stored.revision };
  };
  const admitWrite = (key: string, expect: number | undefined, { fencing }: CallContext): void => {
    disk.terms.admit(fencing);
    const present = disk.records.get(key)?.revision ?? 0;
    if (expect !== undefined && expect !== present) {
      throw new AppError('STORE_CONFLICT', `${key} is at revision ${present}, not at ${expect}`, { facts: { key } });
    }
  };
  const tell = (key: string): void => {
    for (const listener of [...disk.listeners]) listener({ key, record: recordOf(key) });
  };
  return {
    read: async ({ key }) => ({ record: recordOf(key) }),
    write: async ({ key, value, expect }, ctx) => {
      const text: string | undefined = JSON.stringify(value);
      if (text === undefined) throw new AppError('PARAMS_INVALID', `the value of ${key} is nothing that JSON can say`);
      admitWrite(key, expect, ctx);
      disk.revision += 1;
      disk.records.set(key, { text, revision: disk.revision });
      tell(key);
      return { revision: disk.revision };
    },
    remove: async ({ key, expect }, ctx) => {
      admitWrite(key, expect, ctx);
      if (disk.records.delete(key)) {
        disk.revision += 1;
        tell(key);
      }
      return {};
    },
    list: async ({ prefix }) => {
      const records = [...disk.records.keys()]
        .filter((key) => key.startsWith(prefix))
        .sort(compareUtf8)
        .map(recordOf)
        .filter((record) => record !== null);
      return { records };
    },
    watch: (prefix) =>
      new Observable<StoreChange>((observer) => {
        const listener = (change: StoreChange): void => {
          if (change.key.startsWith(prefix)) observer.next(change);
        };
        disk.listeners.add(listener);
        return () => disk.listeners.delete(listener);
      }),
  };
};
