import type { Journal } from '../journal.ts';
import { memoryJournal, memoryStorage } from '../reference/memory-journal.ts';
import type { JournalSubject } from './journal-contract.ts';

const withJournal = (change: (journal: Journal, storage: Map<string, string>) => Partial<Journal>): JournalSubject => {
  const storage = memoryStorage();
  const journal = memoryJournal(storage, 'a');
  const broken = { ...journal, ...change(journal, storage) };
  return { journal: broken, neighbour: memoryJournal(storage, 'b'), restart: async () => broken };
};

const sharedReferences = (): JournalSubject => {
  const values = new Map<string, unknown>();
  return withJournal(() => ({
    read: async ({ key }) => ({ found: values.has(key), value: values.get(key) }),
    write: async ({ key, value }) => {
      values.set(key, value);
      return {};
    },
  }));
};

const forgetful = (): JournalSubject => {
  const storage = memoryStorage();
  return { journal: memoryJournal(storage), restart: async () => memoryJournal() };
};

const lateWriter = (): JournalSubject => {
  const durable = memoryStorage();
  const buffer = memoryStorage();
  const journal = memoryJournal(buffer);
  return {
    journal: {
      ...journal,
      remove: async (params, ctx) => {
        for (const [key, text] of buffer) durable.set(key, text);
        return journal.remove(params, ctx);
      },
    },
    restart: async () => memoryJournal(durable),
  };
};

/** Journals with one thing wrong each. */
export const brokenJournals = [
  {
    what: 'finds what nobody wrote',
    failing: 'a missing key finds nothing',
    make: () =>
      withJournal((journal) => ({ read: async (p, ctx) => ({ ...(await journal.read(p, ctx)), found: true }) })),
  },
  {
    what: 'takes a written null for a missing key',
    failing: 'every JSON value comes back as it was written',
    make: () =>
      withJournal((journal) => ({
        read: async (params, ctx) => {
          const { value } = await journal.read(params, ctx);
          return { found: value !== null, value };
        },
      })),
  },
  {
    what: 'puts a question mark for what is not ASCII',
    failing: 'every JSON value comes back as it was written',
    make: () =>
      withJournal((journal) => ({
        write: ({ key, value }, ctx) =>
          journal.write({ key, value: JSON.parse(JSON.stringify(value).replace(/[^ -~]/g, '?')) }, ctx),
      })),
  },
  {
    what: 'merges a write into what was there',
    failing: 'the last write of a key is the one that counts',
    make: () =>
      withJournal((journal) => ({
        write: async ({ key, value }, ctx) => {
          const { value: old } = await journal.read({ key }, ctx);
          const isMap = typeof old === 'object' && old !== null && typeof value === 'object';
          return journal.write({ key, value: isMap ? { ...old, ...value } : value }, ctx);
        },
      })),
  },
  {
    what: 'shares values by reference',
    failing: 'a value is a copy on the way in and on the way out',
    make: sharedReferences,
  },
  {
    what: 'removes all keys that begin with the one',
    failing: 'a removed key is gone, and only that one',
    make: () =>
      withJournal((journal) => ({
        remove: async ({ key }, ctx) => {
          const { entries } = await journal.list({ prefix: key }, ctx);
          for (const entry of entries) await journal.remove({ key: entry.key }, ctx);
          return {};
        },
      })),
  },
  {
    what: 'removes nothing',
    failing: 'a removed key is gone, and only that one',
    make: () => withJournal(() => ({ remove: async () => ({}) })),
  },
  {
    what: 'refuses to remove what is not there',
    failing: 'removing a missing key is no error',
    make: () =>
      withJournal((journal) => ({
        remove: async (params, ctx) => {
          if (!(await journal.read(params, ctx)).found) throw new Error('no such key');
          return journal.remove(params, ctx);
        },
      })),
  },
  {
    what: 'lists in the order of writing',
    failing: 'a list has every key with the prefix, with its value, sorted',
    make: () =>
      withJournal((journal, storage) => ({
        list: async (params, ctx) => {
          const { entries } = await journal.list(params, ctx);
          const order = [...storage.keys()];
          const place = (key: string): number => order.indexOf(`a/${key}`);
          return { entries: [...entries].sort((left, right) => place(left.key) - place(right.key)) };
        },
      })),
  },
  {
    what: 'takes a prefix for a pattern',
    failing: 'a prefix is plain text',
    make: () =>
      withJournal((journal) => ({
        list: async ({ prefix }, ctx) => {
          const { entries } = await journal.list({ prefix: '' }, ctx);
          return { entries: entries.filter(({ key }) => new RegExp(`^${prefix}`).test(key)) };
        },
      })),
  },
  {
    what: 'lists one page',
    failing: 'a long list is complete',
    make: () =>
      withJournal((journal) => ({
        list: async (params, ctx) => ({ entries: (await journal.list(params, ctx)).entries.slice(0, 100) }),
      })),
  },
  {
    what: 'shares one name space among all controllers',
    failing: 'two controllers never see each other',
    make: () => {
      const storage = memoryStorage();
      return { journal: memoryJournal(storage, 'a'), neighbour: memoryJournal(storage, 'a') };
    },
  },
  { what: 'forgets everything at a restart', failing: 'what was answered survives a restart', make: forgetful },
  { what: 'answers before a removal is durable', failing: 'what was answered survives a restart', make: lateWriter },
  {
    what: 'never answers a read',
    failing: 'a missing key finds nothing',
    make: () => withJournal(() => ({ read: () => new Promise(() => {}) })),
  },
];
