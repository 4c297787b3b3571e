import type { Journal } from '../journal.ts';
import { type ContractContext, type ContractSuite, demand, demandEqual, skipUnless } from './contract-case.ts';

/** A journal, and what the suite needs to know of it. Its storage is empty and goes with it. */
export interface JournalSubject {
  readonly journal: Journal;
  /** The journal of another controller in the same storage. */
  readonly neighbour?: Journal;
  /** Ends the journal without warning and opens it again on what it had made durable. */
  readonly restart?: () => Promise<Journal>;
}

const root = 'contract/';

const put = async (journal: Journal, key: string, value: unknown, ctx: ContractContext): Promise<void> => {
  await journal.write({ key: root + key, value }, ctx);
};

const demandValue = async (journal: Journal, key: string, expected: unknown, ctx: ContractContext): Promise<void> => {
  const { found, value } = await journal.read({ key: root + key }, ctx);
  demand(found, `a written key must be found; ${root}${key} was not`);
  demandEqual(value, expected, `the value of ${root}${key}`);
};

const demandMissing = async (journal: Journal, key: string, why: string, ctx: ContractContext): Promise<void> => {
  const { found } = await journal.read({ key: root + key }, ctx);
  demand(!found, `${why}; ${root}${key} was found`);
};

const demandKeys = async (journal: Journal, prefix: string, keys: string[], ctx: ContractContext): Promise<void> => {
  const { entries } = await journal.list({ prefix: root + prefix }, ctx);
  const found = entries.map(({ key }) => key);
  demandEqual(
    found,
    keys.map((key) => root + key),
    `the keys below ${root}${prefix}, sorted`,
  );
};

/** Demands on a {@link Journal}: durable, exact, and its own. */
export const journalContract: ContractSuite<JournalSubject> = {
  name: 'Journal',
  cases: [
    {
      name: 'a missing key finds nothing',
      cites: 'DESIGN §2 Journal',
      run: ({ journal }, ctx) => demandMissing(journal, 'missing', 'a key that nobody wrote must not be found', ctx),
    },
    {
      name: 'every JSON value comes back as it was written',
      cites: 'DESIGN §2 Journal',
      run: async ({ journal }, ctx) => {
        const values: [string, unknown][] = [
          ['null', null],
          ['false', false],
          ['zero', 0],
          ['text', 'π ☃ 😀 "quoted"\n'],
          ['list', [1, [2, []], {}]],
          ['map', { b: { deep: [null] }, a: '', 'a/b': 1.5 }],
        ];
        for (const [key, value] of values) await put(journal, key, value, ctx);
        for (const [key, value] of values) await demandValue(journal, key, value, ctx);
      },
    },
    {
      name: 'the last write of a key is the one that counts',
      cites: 'DESIGN §2 Journal',
      run: async ({ journal }, ctx) => {
        await put(journal, 'budget', { peak: 3, held: ['a'] }, ctx);
        await put(journal, 'budget', { peak: 4 }, ctx);
        await demandValue(journal, 'budget', { peak: 4 }, ctx);
        await demandKeys(journal, '', ['budget'], ctx);
      },
    },
    {
      name: 'a value is a copy on the way in and on the way out',
      cites: 'DESIGN §2 direct()',
      run: async ({ journal }, ctx) => {
        const value = { ids: ['a'] };
        await put(journal, 'copy', value, ctx);
        value.ids.push('b');
        await demandValue(journal, 'copy', { ids: ['a'] }, ctx);
        const { value: read } = await journal.read({ key: `${root}copy` }, ctx);
        const { ids } = read as { ids: string[] };
        if (!Object.isFrozen(ids)) ids.push('c');
        await demandValue(journal, 'copy', { ids: ['a'] }, ctx);
      },
    },
    {
      name: 'a removed key is gone, and only that one',
      cites: 'DESIGN §2 Journal',
      run: async ({ journal }, ctx) => {
        await put(journal, 'gone', 1, ctx);
        await put(journal, 'gone/below', 2, ctx);
        await journal.remove({ key: `${root}gone` }, ctx);
        await demandMissing(journal, 'gone', 'a removed key must not be found', ctx);
        await demandValue(journal, 'gone/below', 2, ctx);
        await demandKeys(journal, '', ['gone/below'], ctx);
      },
    },
    {
      name: 'removing a missing key is no error',
      cites: 'DESIGN §3 idempotent by its parameters',
      run: async ({ journal }, ctx) => {
        await put(journal, 'twice', 1, ctx);
        await journal.remove({ key: `${root}twice` }, ctx);
        await journal.remove({ key: `${root}twice` }, ctx);
        await journal.remove({ key: `${root}never` }, ctx);
        await demandKeys(journal, '', [], ctx);
      },
    },
    {
      name: 'a list has every key with the prefix, with its value, sorted',
      cites: 'DESIGN §2 Journal',
      run: async ({ journal }, ctx) => {
        for (const key of ['b/2', 'a/1', 'b/10', 'b', 'bc']) await put(journal, key, { of: key }, ctx);
        await demandKeys(journal, '', ['a/1', 'b', 'b/10', 'b/2', 'bc'], ctx);
        await demandKeys(journal, 'b', ['b', 'b/10', 'b/2', 'bc'], ctx);
        const { entries } = await journal.list({ prefix: `${root}b/` }, ctx);
        const expected = ['b/10', 'b/2'].map((key) => ({ key: root + key, value: { of: key } }));
        demandEqual(entries, expected, 'the entries of a list');
      },
    },
    {
      name: 'a prefix is plain text',
      cites: 'DESIGN §2 Journal',
      run: async ({ journal }, ctx) => {
        for (const key of ['a.c', 'abc', 'a%2Fc', 'a*']) await put(journal, key, 1, ctx);
        await demandKeys(journal, 'a.', ['a.c'], ctx);
        await demandKeys(journal, 'a*', ['a*'], ctx);
        await demandKeys(journal, 'a%', ['a%2Fc'], ctx);
      },
    },
    {
      name: 'a long list is complete',
      cites: 'DESIGN §3 RPC',
      run: async ({ journal }, ctx) => {
        const keys = Array.from({ length: 300 }, (_, index) => `long/${String(index).padStart(3, '0')}`);
        for (const key of keys) await put(journal, key, 1, ctx);
        const { entries } = await journal.list({ prefix: `${root}long/` }, ctx);
        demandEqual(entries.length, keys.length, 'the number of entries in a long list');
        await demandKeys(journal, 'long/', keys, ctx);
      },
    },
    {
      name: 'two controllers never see each other',
      cites: 'DESIGN §2 Journal',
      run: async ({ journal, neighbour }, ctx) => {
        skipUnless(neighbour, 'there is no second journal in the same storage to compare with');
        await put(journal, 'shared', 'mine', ctx);
        await demandMissing(neighbour, 'shared', 'a key of another controller must not be found', ctx);
        await put(neighbour, 'shared', 'theirs', ctx);
        await demandValue(journal, 'shared', 'mine', ctx);
        await neighbour.remove({ key: `${root}shared` }, ctx);
        await demandKeys(neighbour, '', [], ctx);
        await demandKeys(journal, '', ['shared'], ctx);
      },
    },
    {
      name: 'what was answered survives a restart',
      cites: 'Law 11',
      run: async ({ journal, restart }, ctx) => {
        skipUnless(restart, 'the journal offers no restart');
        await put(journal, 'kept', { revision: 7 }, ctx);
        await put(journal, 'dropped', 1, ctx);
        await journal.remove({ key: `${root}dropped` }, ctx);
        const again = await restart();
        await demandValue(again, 'kept', { revision: 7 }, ctx);
        await demandKeys(again, '', ['kept'], ctx);
      },
    },
  ],
};
