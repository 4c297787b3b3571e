import type { Store, StoreChange } from '../store.ts';
import {
  type ContractContext,
  type ContractSuite,
  demand,
  demandEqual,
  demandRejects,
  eventually,
  skipUnless,
} from './contract-case.ts';

/** A store, and what the suite needs to know of it. Its storage is empty and goes with it. */
export interface StoreSubject {
  readonly store: Store;
  /** The same storage as another process sees it. */
  readonly other?: Store;
  /** Ends the store without warning and opens it again on what it had made durable. */
  readonly restart?: () => Promise<Store>;
  /** Two terms that leaders of this storage had, one after the other. */
  readonly terms?: () => Promise<{ readonly older: number; readonly newer: number }>;
}

const root = 'contract/';
const scope = 'contract';

const put = async (store: Store, key: string, value: unknown, ctx: ContractContext): Promise<number> =>
  (await store.write({ key: root + key, value }, ctx)).revision;

const recordOf = async (store: Store, key: string, ctx: ContractContext): ReturnType<Store['read']> =>
  store.read({ key: root + key }, ctx);

const demandValue = async (store: Store, key: string, expected: unknown, ctx: ContractContext): Promise<void> => {
  const { record } = await recordOf(store, key, ctx);
  demand(record !== null, `a written record must be there; ${root}${key} is not`);
  demandEqual(record.value, expected, `the value of ${root}${key}`);
};

const demandMissing = async (store: Store, key: string, why: string, ctx: ContractContext): Promise<void> => {
  const { record } = await recordOf(store, key, ctx);
  demand(record === null, `${why}; ${root}${key} is there`);
};

const demandKeys = async (store: Store, prefix: string, keys: string[], ctx: ContractContext): Promise<void> => {
  const { records } = await store.list({ prefix: root + prefix }, ctx);
  demandEqual(
    records.map(({ key }) => key).sort(),
    keys.map((key) => root + key).sort(),
    `the keys below ${root}${prefix}`,
  );
};

/** Gathers what a watch tells while `work` runs, and ends the watch with it. */
const watching = async (
  store: Store,
  work: (changes: readonly StoreChange[], problems: readonly string[]) => Promise<void>,
): Promise<void> => {
  const changes: StoreChange[] = [];
  const problems: string[] = [];
  const subscription = store.watch(root).subscribe({
    next: (change) => changes.push(change),
    error: (thrown: unknown) => problems.push(`a watch must not fail: ${String(thrown)}`),
    complete: () => problems.push('a watch must not end by itself'),
  });
  try {
    await work(changes, problems);
  } finally {
    subscription.unsubscribe();
  }
};

const valuesOf = (changes: readonly StoreChange[], key: string): unknown[] =>
  changes
    .filter((change) => change.key === root + key)
    .map(({ record }) => (record === null ? 'removed' : record.value));

/** Demands on a {@link Store}: durable, one revision for all keys, optimistic locks, fencing, a watch that misses nothing. */
export const storeContract: ContractSuite<StoreSubject> = {
  name: 'Store',
  cases: [
    {
      name: 'a missing record is null',
      cites: 'DESIGN §5',
      run: ({ store }, ctx) => demandMissing(store, 'missing', 'a key that nobody wrote must have no record', ctx),
    },
    {
      name: 'a record is read as it was written, at the revision of its write',
      cites: 'DESIGN §5',
      run: async ({ store }, ctx) => {
        const value = { kind: 'group', metadata: { name: 'π/😀', tags: null }, list: [0, '', [false]] };
        const revision = await put(store, 'spec', value, ctx);
        const { record } = await recordOf(store, 'spec', ctx);
        demandEqual(record, { key: `${root}spec`, value, revision }, 'a record');
      },
    },
    {
      name: 'a value is a copy on the way in',
      cites: 'DESIGN §2 direct()',
      run: async ({ store }, ctx) => {
        const value = { ids: ['a'] };
        await put(store, 'copy', value, ctx);
        value.ids.push('b');
        await demandValue(store, 'copy', { ids: ['a'] }, ctx);
      },
    },
    {
      name: 'the revision rises with each write of any key',
      cites: 'DESIGN §5',
      run: async ({ store }, ctx) => {
        const revisions = [
          await put(store, 'a', 1, ctx),
          await put(store, 'b', 1, ctx),
          await put(store, 'a', 1, ctx),
          await put(store, 'a', 2, ctx),
        ];
        const isRising = revisions.every((revision, index) => index === 0 || revision > (revisions[index - 1] ?? 0));
        demand(
          isRising,
          `revisions must rise with each write, of an equal value too; they were ${revisions.join(', ')}`,
        );
      },
    },
    {
      name: 'a key that was removed and written again has a higher revision',
      cites: 'DESIGN §5',
      run: async ({ store }, ctx) => {
        const before = await put(store, 'again', 1, ctx);
        await store.remove({ key: `${root}again` }, ctx);
        const after = await put(store, 'again', 1, ctx);
        demand(after > before, `the new record has revision ${after}; the removed one had ${before}`);
        await demandRejects(
          store.write({ key: `${root}again`, value: 2, expect: before }, ctx),
          ['STORE_CONFLICT'],
          'a write that expects the removed record',
        );
      },
    },
    {
      name: 'a write at the expected revision succeeds, at another it is a conflict and changes nothing',
      cites: 'DESIGN §5 commit',
      run: async ({ store }, ctx) => {
        const first = await put(store, 'lock', 1, ctx);
        const { revision: second } = await store.write({ key: `${root}lock`, value: 2, expect: first }, ctx);
        await demandRejects(
          store.write({ key: `${root}lock`, value: 3, expect: first }, ctx),
          ['STORE_CONFLICT'],
          'a write that expects an older revision',
        );
        const { record } = await recordOf(store, 'lock', ctx);
        demandEqual(record, { key: `${root}lock`, value: 2, revision: second }, 'the record after a refused write');
      },
    },
    {
      name: 'a write that expects nothing creates once',
      cites: 'DESIGN §5 commit',
      run: async ({ store }, ctx) => {
        await store.write({ key: `${root}once`, value: 'first', expect: 0 }, ctx);
        await demandRejects(
          store.write({ key: `${root}once`, value: 'second', expect: 0 }, ctx),
          ['STORE_CONFLICT'],
          'a write that expects no record',
        );
        await demandValue(store, 'once', 'first', ctx);
      },
    },
    {
      name: 'of several writers at one revision exactly one succeeds',
      cites: 'DESIGN §5 commit',
      run: async ({ store, other = store }, ctx) => {
        const expect = await put(store, 'race', 'start', ctx);
        const writers = Array.from({ length: 8 }, (_, index) =>
          (index % 2 === 0 ? store : other).write({ key: `${root}race`, value: index, expect }, ctx),
        );
        const outcomes = await Promise.allSettled(writers);
        const winners = outcomes.flatMap(({ status }, index) => (status === 'fulfilled' ? [index] : []));
        demand(winners.length === 1, `one of 8 writers at one revision must succeed; ${winners.length} did`);
        await demandValue(store, 'race', winners[0], ctx);
      },
    },
    {
      name: 'a removed record is gone, and removing it again is no error',
      cites: 'DESIGN §3 idempotent by its parameters',
      run: async ({ store }, ctx) => {
        await put(store, 'gone', 1, ctx);
        await put(store, 'gone/below', 2, ctx);
        await store.remove({ key: `${root}gone` }, ctx);
        await store.remove({ key: `${root}gone` }, ctx);
        await demandMissing(store, 'gone', 'a removed record must not be read', ctx);
        await demandKeys(store, '', ['gone/below'], ctx);
      },
    },
    {
      name: 'a remove at another revision is a conflict and removes nothing',
      cites: 'DESIGN §5 commit',
      run: async ({ store }, ctx) => {
        const first = await put(store, 'guarded', 1, ctx);
        const second = await put(store, 'guarded', 2, ctx);
        await demandRejects(
          store.remove({ key: `${root}guarded`, expect: first }, ctx),
          ['STORE_CONFLICT'],
          'a remove that expects an older revision',
        );
        await demandValue(store, 'guarded', 2, ctx);
        await store.remove({ key: `${root}guarded`, expect: second }, ctx);
        await demandMissing(store, 'guarded', 'a record removed at its revision must be gone', ctx);
      },
    },
    {
      name: 'a list has every record with the prefix, and no other',
      cites: 'DESIGN §5',
      run: async ({ store }, ctx) => {
        const revisions = new Map<string, number>();
        for (const key of ['b/2', 'a/1', 'b/10', 'bc', 'b.2']) revisions.set(key, await put(store, key, { key }, ctx));
        await demandKeys(store, '', ['a/1', 'b.2', 'b/10', 'b/2', 'bc'], ctx);
        await demandKeys(store, 'b.', ['b.2'], ctx);
        const { records } = await store.list({ prefix: `${root}a` }, ctx);
        const expected = { key: `${root}a/1`, value: { key: 'a/1' }, revision: revisions.get('a/1') };
        demandEqual(records, [expected], 'the records of a list');
      },
    },
    {
      name: 'a long list is complete',
      cites: 'DESIGN §3 RPC',
      run: async ({ store }, ctx) => {
        const keys = Array.from({ length: 300 }, (_, index) => `long/${index}`);
        for (const key of keys) await put(store, key, 1, ctx);
        const { records } = await store.list({ prefix: `${root}long/` }, ctx);
        demandEqual(records.length, keys.length, 'the number of records in a long list');
        await demandKeys(store, 'long/', keys, ctx);
      },
    },
    {
      name: 'a write of an older term is refused and changes nothing',
      cites: 'Law 12',
      run: async ({ store, other = store, terms }, ctx) => {
        skipUnless(terms, 'the store is not guarded by terms');
        const { older, newer } = await terms();
        await store.write({ key: `${root}fenced`, value: 'new leader' }, { ...ctx, fencing: { scope, term: newer } });
        const stale = { ...ctx, fencing: { scope, term: older } };
        await demandRejects(
          other.write({ key: `${root}fenced`, value: 'old leader' }, stale),
          ['TERM_STALE'],
          'a write of an older term',
        );
        await demandRejects(other.remove({ key: `${root}fenced` }, stale), ['TERM_STALE'], 'a remove of an older term');
        await demandValue(store, 'fenced', 'new leader', ctx);
        await store.write({ key: `${root}fenced`, value: 'again' }, { ...ctx, fencing: { scope, term: newer } });
      },
    },
    {
      name: 'the older term stays refused after a restart',
      cites: 'Law 12',
      run: async ({ store, restart, terms }, ctx) => {
        skipUnless(terms, 'the store is not guarded by terms');
        skipUnless(restart, 'the store offers no restart');
        const { older, newer } = await terms();
        await store.write({ key: `${root}fenced`, value: 'new leader' }, { ...ctx, fencing: { scope, term: newer } });
        const again = await restart();
        await demandRejects(
          again.write({ key: `${root}fenced`, value: 'old leader' }, { ...ctx, fencing: { scope, term: older } }),
          ['TERM_STALE'],
          'a write of an older term after a restart',
        );
      },
    },
    {
      name: 'what was answered survives a restart, with its revision',
      cites: 'Law 11',
      run: async ({ store, restart }, ctx) => {
        skipUnless(restart, 'the store offers no restart');
        await put(store, 'dropped', 1, ctx);
        const revision = await put(store, 'kept', { size: 3 }, ctx);
        await store.remove({ key: `${root}dropped` }, ctx);
        const again = await restart();
        const { record } = await recordOf(again, 'kept', ctx);
        demandEqual(record, { key: `${root}kept`, value: { size: 3 }, revision }, 'the record after a restart');
        await demandMissing(again, 'dropped', 'a removed record must not come back with a restart', ctx);
        const next = await put(again, 'dropped', 1, ctx);
        demand(next > revision, `revisions must go on rising after a restart: ${next} came after ${revision}`);
      },
    },
    {
      name: 'a watch tells each change of a key in order, and nothing from before it',
      cites: 'DESIGN §5 etcd',
      run: async ({ store }, ctx) => {
        await put(store, 'seen', 'before', ctx);
        await watching(store, async (changes, problems) => {
          await store.list({ prefix: root }, ctx);
          for (const value of [1, 2, 3]) await put(store, 'seen', value, ctx);
          await store.remove({ key: `${root}seen` }, ctx);
          await eventually(ctx, true, async () => {
            demandEqual(problems, [], 'the problems of the watch');
            demandEqual(valuesOf(changes, 'seen'), [1, 2, 3, 'removed'], 'the changes that the watch told');
          });
        });
      },
    },
    {
      name: 'a watch tells what others write',
      cites: 'DESIGN §5 etcd',
      run: async ({ store, other }, ctx) => {
        skipUnless(other, 'there is no second store on the same storage');
        await watching(store, async (changes) => {
          await store.list({ prefix: root }, ctx);
          const revision = await put(other, 'theirs', 1, ctx);
          await eventually(ctx, true, async () => {
            const record = { key: `${root}theirs`, value: 1, revision };
            demandEqual(changes, [{ key: record.key, record }], 'the changes that the watch told');
          });
        });
      },
    },
    {
      name: 'a watch tells only of its prefix',
      cites: 'DESIGN §5 etcd',
      run: async ({ store }, ctx) => {
        await watching(store, async (changes) => {
          await store.list({ prefix: root }, ctx);
          await store.write({ key: 'contract-other', value: 1 }, ctx);
          await store.remove({ key: 'contract-other' }, ctx);
          await put(store, 'mine', 1, ctx);
          await eventually(ctx, true, async () => {
            demandEqual(
              changes.map(({ key }) => key),
              [`${root}mine`],
              'the keys that the watch told of',
            );
          });
        });
      },
    },
  ],
};
