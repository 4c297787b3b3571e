import { AppError } from '@infrakit/core';
import { filter, map, NEVER, type Observable, take, throwError } from 'rxjs';
import { fencingTerms } from '../fencing.ts';
import { type MemoryDisk, memoryDisk, memoryStore } from '../reference/memory-store.ts';
import type { Store, StoreChange } from '../store.ts';
import type { StoreSubject } from './store-contract.ts';

const terms = async () => ({ older: 3, newer: 4 });

const withStore = (change: (store: Store, disk: MemoryDisk) => Partial<Store>): StoreSubject => {
  const disk = memoryDisk();
  const store = memoryStore(disk);
  const broken = { ...store, ...change(store, disk) };
  return { store: broken, other: broken, restart: async () => broken, terms };
};

const withWatch = (change: (changes: Observable<StoreChange>) => Observable<StoreChange>): StoreSubject =>
  withStore((store) => ({ watch: (prefix) => change(store.watch(prefix)) }));

const restarted = (restart: (disk: MemoryDisk) => MemoryDisk): StoreSubject => {
  const disk = memoryDisk();
  return { store: memoryStore(disk), restart: async () => memoryStore(restart(disk)), terms };
};

/** Stores with one thing wrong each. */
export const brokenStores = [
  {
    what: 'invents a record',
    failing: 'a missing record is null',
    make: () => withStore(() => ({ read: async ({ key }) => ({ record: { key, value: null, revision: 1 } }) })),
  },
  {
    what: 'drops members that are null',
    failing: 'a record is read as it was written, at the revision of its write',
    make: () =>
      withStore((store) => ({
        write: ({ value, ...rest }, ctx) => {
          const text = JSON.stringify(value, (_, member: unknown) => (member === null ? undefined : member));
          return store.write({ ...rest, value: JSON.parse(text) }, ctx);
        },
      })),
  },
  {
    what: 'keeps the very object it was given',
    failing: 'a value is a copy on the way in',
    make: () => {
      const values = new Map<string, unknown>();
      return withStore((store) => ({
        write: async (params, ctx) => {
          values.set(params.key, params.value);
          return store.write(params, ctx);
        },
        read: async (params, ctx) => {
          const { record } = await store.read(params, ctx);
          return { record: record === null ? null : { ...record, value: values.get(params.key) } };
        },
      }));
    },
  },
  {
    what: 'counts revisions by key',
    failing: 'the revision rises with each write of any key',
    make: () => {
      const counts = new Map<string, number>();
      return withStore((store) => ({
        write: async (params, ctx) => {
          await store.write(params, ctx);
          const revision = (counts.get(params.key) ?? 0) + 1;
          counts.set(params.key, revision);
          return { revision };
        },
      }));
    },
  },
  {
    what: 'starts a removed key anew',
    failing: 'a key that was removed and written again has a higher revision',
    make: () =>
      withStore((store, disk) => ({
        remove: async (params, ctx) => {
          await store.remove(params, ctx);
          disk.revision = 0;
          return {};
        },
      })),
  },
  {
    what: 'ignores the expected revision',
    failing: 'a write at the expected revision succeeds, at another it is a conflict and changes nothing',
    make: () => withStore((store) => ({ write: ({ key, value }, ctx) => store.write({ key, value }, ctx) })),
  },
  {
    what: 'writes first and compares then',
    failing: 'a write at the expected revision succeeds, at another it is a conflict and changes nothing',
    make: () =>
      withStore((store) => ({
        write: async ({ key, value, expect }, ctx) => {
          const { record } = await store.read({ key }, ctx);
          const written = await store.write({ key, value }, ctx);
          if (expect !== undefined && expect !== (record?.revision ?? 0)) throw new AppError('STORE_CONFLICT', 'late');
          return written;
        },
      })),
  },
  {
    what: 'takes "must not exist" for "any"',
    failing: 'a write that expects nothing creates once',
    make: () =>
      withStore((store) => ({
        write: ({ expect, ...rest }, ctx) => store.write(expect === 0 ? rest : { ...rest, expect }, ctx),
      })),
  },
  {
    what: 'lets others in between comparing and writing',
    failing: 'of several writers at one revision exactly one succeeds',
    make: () =>
      withStore((store) => ({
        write: async ({ key, value, expect }, ctx) => {
          const { record } = await store.read({ key }, ctx);
          if (expect !== undefined && expect !== (record?.revision ?? 0)) throw new AppError('STORE_CONFLICT', 'early');
          return store.write({ key, value }, ctx);
        },
      })),
  },
  {
    what: 'removes what lies below a key too',
    failing: 'a removed record is gone, and removing it again is no error',
    make: () =>
      withStore((store) => ({
        remove: async ({ key }, ctx) => {
          const { records } = await store.list({ prefix: key }, ctx);
          for (const record of records) await store.remove({ key: record.key }, ctx);
          return {};
        },
      })),
  },
  {
    what: 'removes at any revision',
    failing: 'a remove at another revision is a conflict and removes nothing',
    make: () => withStore((store) => ({ remove: ({ key }, ctx) => store.remove({ key }, ctx) })),
  },
  {
    what: 'lists everything whatever the prefix',
    failing: 'a list has every record with the prefix, and no other',
    make: () => withStore((store) => ({ list: (_, ctx) => store.list({ prefix: '' }, ctx) })),
  },
  {
    what: 'lists one page',
    failing: 'a long list is complete',
    make: () =>
      withStore((store) => ({
        list: async (params, ctx) => ({ records: (await store.list(params, ctx)).records.slice(0, 100) }),
      })),
  },
  {
    what: 'ignores terms',
    failing: 'a write of an older term is refused and changes nothing',
    make: () => withStore((store) => ({ write: (params, { fencing: _, ...ctx }) => store.write(params, ctx) })),
  },
  {
    what: 'guards only writes by terms, not removals',
    failing: 'a write of an older term is refused and changes nothing',
    make: () => withStore((store) => ({ remove: (params, { fencing: _, ...ctx }) => store.remove(params, ctx) })),
  },
  {
    what: 'forgets the term at a restart',
    failing: 'the older term stays refused after a restart',
    make: () =>
      restarted((disk) => {
        disk.terms = fencingTerms();
        return disk;
      }),
  },
  {
    what: 'loses records at a restart',
    failing: 'what was answered survives a restart, with its revision',
    make: () => restarted(memoryDisk),
  },
  {
    what: 'counts revisions anew after a restart',
    failing: 'what was answered survives a restart, with its revision',
    make: () =>
      restarted((disk) => {
        disk.revision = 0;
        return disk;
      }),
  },
  {
    what: 'has a watch that never tells of removals',
    failing: 'a watch tells each change of a key in order, and nothing from before it',
    make: () => withWatch((changes) => changes.pipe(filter(({ record }) => record !== null))),
  },
  {
    what: 'has a watch that ends after the first change',
    failing: 'a watch tells each change of a key in order, and nothing from before it',
    make: () => withWatch((changes) => changes.pipe(take(1))),
  },
  {
    what: 'has a watch that fails',
    failing: 'a watch tells each change of a key in order, and nothing from before it',
    make: () => withWatch(() => throwError(() => new Error('no watch'))),
  },
  {
    what: 'has a watch that is deaf to others',
    failing: 'a watch tells what others write',
    make: () => ({ ...withWatch(() => NEVER), other: memoryStore() }),
  },
  {
    what: 'has a watch without the revision of the write',
    failing: 'a watch tells what others write',
    make: () =>
      withWatch((changes) =>
        changes.pipe(
          map(({ key, record }) => ({
            key,
            record: record === null ? null : { ...record, revision: record.revision + 1 },
          })),
        ),
      ),
  },
  {
    what: 'has a watch of everything whatever the prefix',
    failing: 'a watch tells only of its prefix',
    make: () => withStore((store) => ({ watch: () => store.watch('') })),
  },
];
