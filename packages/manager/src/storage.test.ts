import { mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  direct,
  type Journal,
  type JournalSubject,
  journalContract,
  journalInterface,
  type LeadershipSubject,
  leadershipContract,
  realAfter,
  type StoreSubject,
  storeContract,
  testingContext,
} from '@infrakit/spi';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { contractTests } from '../../../test/contract.ts';
import { fileLeadership } from './file-leadership.ts';
import { tryLock } from './file-lock.ts';
import { openFileStore } from './file-store.ts';
import { openJournal } from './journal-file.ts';

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const ctx = testingContext();

const withFolder = async <S extends object>(make: (folder: string) => Promise<S>): Promise<S & AsyncDisposable> => {
  const folder = await mkdtemp(join(tmpdir(), 'manager-'));
  return Object.defineProperties(await make(folder), {
    [Symbol.asyncDispose]: { value: () => rm(folder, { recursive: true }) },
  }) as S & AsyncDisposable;
};

contractTests(storeContract, () =>
  withFolder(async (folder): Promise<StoreSubject> => {
    let terms = 0;
    return {
      store: await openFileStore(folder),
      restart: () => openFileStore(folder),
      terms: async () => {
        terms += 2;
        return { older: terms - 1, newer: terms };
      },
    };
  }),
);

contractTests(journalContract, () =>
  withFolder(async (folder): Promise<JournalSubject> => {
    const open = async (scope: string): Promise<Journal> =>
      direct(journalInterface, (await openJournal(folder, scope, log)).journal, { after: realAfter });
    return { journal: await open('a/b'), neighbour: await open('a'), restart: () => open('a/b') };
  }),
);

contractTests(leadershipContract, () =>
  withFolder(async (folder): Promise<LeadershipSubject> => {
    const join_ = () => fileLeadership(folder, 'mystack', { after: realAfter, log });
    return { first: join_(), second: join_() };
  }),
);

describe('storage in files', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'manager-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  test('one readable file a record, whatever its key, and nobody else may read it', async () => {
    const store = await openFileStore(folder);
    await store.write({ key: 'spec/group/my cattle/+#', value: { a: 1 } }, ctx);
    const [name] = (await readdir(folder)).filter((file) => !file.startsWith('.'));
    expect(name).toMatch(/^spec%2Fgroup%2Fmy%20cattle%2F.*\.json$/);
    const path = join(folder, name ?? '');
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({
      key: 'spec/group/my cattle/+#',
      value: { a: 1 },
      revision: 1,
    });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test('no revision is given twice, also after the newest record was removed', async () => {
    const store = await openFileStore(folder);
    const { revision } = await store.write({ key: 'a', value: 1 }, ctx);
    await store.remove({ key: 'a' }, ctx);
    const again = await openFileStore(folder);
    expect((await again.write({ key: 'b', value: 1 }, ctx)).revision).toBeGreaterThan(revision);
  });

  test('GP-M4: a file that is no record is an error that names it, never an empty store', async () => {
    const store = await openFileStore(folder);
    await store.write({ key: 'a', value: 1 }, ctx);
    await writeFile(join(folder, 'a.json'), '{"key":');
    await expect(openFileStore(folder)).rejects.toMatchObject({
      code: 'STORE_CORRUPT',
      message: expect.stringContaining('a.json'),
    });
    await writeFile(join(folder, 'a.json'), '{}');
    await expect(openFileStore(folder)).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
  });

  test('a half-written file of an interrupted write is not taken for a record', async () => {
    const store = await openFileStore(folder);
    await store.write({ key: 'a', value: 1 }, ctx);
    await writeFile(join(folder, 'a.json.123456'), '{"key":"a","val');
    const again = await openFileStore(folder);
    expect((await again.list({ prefix: '' }, ctx)).records.map(({ key }) => key)).toEqual(['a']);
  });

  test('Law 11: a journal whose last records are cut off starts by itself with those before', async () => {
    const first = await openJournal(folder, 'nfs', log);
    for (let n = 0; n < 20; n += 1) await first.journal.write({ key: `k${n}`, value: { n } }, ctx);
    await first.close();
    const path = join(folder, 'nfs.log');
    await truncate(path, (await stat(path)).size - 60);
    const second = await openJournal(folder, 'nfs', log);
    const { entries } = await second.journal.list({ prefix: '' }, ctx);
    expect(entries.length).toBeGreaterThanOrEqual(17);
    expect(entries.length).toBeLessThan(20);
    await second.close();
  });

  test('a journal without a folder is in memory', async () => {
    const { journal } = await openJournal(null, 'nfs', log);
    await journal.write({ key: 'a', value: 1 }, ctx);
    expect(await journal.read({ key: 'a' }, ctx)).toEqual({ found: true, value: 1 });
    expect(await readdir(folder)).toEqual([]);
  });

  test('a lock is held by one, and free again when it is released', async () => {
    const path = join(folder, 'x.lock');
    const held = await tryLock(path);
    expect(await tryLock(path)).toBeNull();
    await held?.release();
    const again = await tryLock(path);
    expect(again).not.toBeNull();
    await again?.release();
  });

  test('Law 12: the term rises with each leader and is durable before it leads', async () => {
    const lead = async () => {
      const candidate = fileLeadership(folder, 'mystack', { after: realAfter, log });
      await candidate.campaign({ location: 'here' }, ctx);
      const state = await candidate.state({}, ctx);
      await candidate.resign({}, ctx);
      return state.kind === 'leading' ? state.term : 0;
    };
    expect([await lead(), await lead(), await lead()]).toEqual([1, 2, 3]);
  });
});
