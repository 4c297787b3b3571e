import { emptyLedger } from '@infrakit/core';
import { type CallContext, type Journal, memoryJournal, memoryStorage } from '@infrakit/spi';
import { expect, test } from 'vitest';
import { type BudgetRecord, ledgerStore } from './ledger-store.ts';

const ctx: CallContext = { signal: new AbortController().signal, timeoutMs: 1_000 };

const record: BudgetRecord = {
  ledger: { unexplained: [{ id: 'i-1', atMs: 5 }], peak: 10 },
  commit: { revision: 3, ids: ['i-2'] },
};

const setUp = () => {
  const storage = memoryStorage();
  const plain = memoryJournal(storage, 'enrollment');
  const calls = { read: 0, write: 0 };
  const journal: Journal = {
    ...plain,
    read: (params, own) => {
      calls.read += 1;
      return plain.read(params, own);
    },
    write: (params, own) => {
      calls.write += 1;
      return plain.write(params, own);
    },
  };
  return { storage, calls, journal, open: (name = 'enrollment/nfs') => ledgerStore(journal, name) };
};

test('Law 6: a record survives a restart, and is that of its rule alone', async () => {
  const { open } = setUp();
  await open().save(record, ctx);
  expect(await open().load(ctx)).toEqual(record);
  expect(await open('enrollment/other').load(ctx)).toEqual({ ledger: emptyLedger, commit: null });
});

test('Law 8: what is not new is not written, and reading is asked of the journal once', async () => {
  const { calls, open } = setUp();
  const store = open();
  const first = await store.load(ctx);
  await store.save(first, ctx);
  await store.save({ ...first }, ctx);
  expect(await store.load(ctx)).toBe(first);
  expect(calls).toEqual({ read: 1, write: 0 });
  await store.save({ ...first, commit: { revision: 1, ids: null } }, ctx);
  expect(calls).toEqual({ read: 1, write: 1 });
});

test('a save that failed is not taken for kept: the next one writes', async () => {
  const { journal, storage } = setUp();
  let isBroken = true;
  const store = ledgerStore(
    { ...journal, write: (params, own) => (isBroken ? Promise.reject(new Error('full')) : journal.write(params, own)) },
    'enrollment/nfs',
  );
  await store.load(ctx);
  await expect(store.save(record, ctx)).rejects.toThrow('full');
  expect(await store.load(ctx)).toEqual({ ledger: emptyLedger, commit: null });
  isBroken = false;
  await store.save(record, ctx);
  expect(storage.size).toBe(1);
  expect(await ledgerStore(journal, 'enrollment/nfs').load(ctx)).toEqual(record);
});

test.each([
  ['of another shape', '{"ledger":[]}'],
  ['with a field nobody knows', '{"ledger":{"unexplained":[],"peak":0},"commit":null,"more":1}'],
  ['null', 'null'],
])('a record %s is STORE_CORRUPT, each time, until it is replaced', async (_, text) => {
  const { storage, open } = setUp();
  storage.set('enrollment/budget/enrollment/nfs', text);
  const store = open();
  await expect(store.load(ctx)).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
  await expect(store.load(ctx)).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
  await store.save(record, ctx);
  expect(await store.load(ctx)).toBe(record);
});

test('a removed record is empty, here and on disk', async () => {
  const { storage, open } = setUp();
  const store = open();
  await store.save(record, ctx);
  await store.remove(ctx);
  expect(storage.size).toBe(0);
  expect(await store.load(ctx)).toEqual({ ledger: emptyLedger, commit: null });
});
