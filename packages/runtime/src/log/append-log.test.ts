import { appendFile, mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json } from '@infrakit/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openAppendLog } from './append-log.ts';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'append-log-'));
  path = join(folder, 'facts.log');
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const written = async (records: readonly Json[]): Promise<void> => {
  const { log } = await openAppendLog(path);
  await Promise.all(records.map((record) => log.append(record)));
  await log.close();
};

/** What a reader finds in the log. */
const read = async () => {
  const { log, records, dropped } = await openAppendLog(path);
  await log.close();
  return { records, dropped };
};

describe('an append log', () => {
  test('gives back what was appended, in order, also text of any kind', async () => {
    const records: Json[] = [{ a: 1 }, 'line\nbreak', ['ü', '\u2028', null], 7];
    await written(records);
    await written([{ last: true }]);
    expect(await read()).toEqual({ records: [...records, { last: true }], dropped: 0 });
  });

  test('Law 11: cut anywhere, it starts by itself with the records before the cut, and goes on', async () => {
    const records = Array.from({ length: 20 }, (_, n) => ({ n }));
    await written(records);
    const { size } = await stat(path);
    const whole = await readFile(path);
    for (let end = size; end >= 0; end -= 7) {
      await writeFile(path, whole);
      await truncate(path, end);
      const { log, records: kept } = await openAppendLog(path);
      expect(kept).toEqual(records.slice(0, kept.length));
      await log.append({ after: end });
      await log.close();
      expect((await read()).records).toEqual([...kept, { after: end }]);
    }
  });

  test('a damaged line in the middle is counted and left out, the rest is kept', async () => {
    await written([{ n: 0 }, { n: 1 }, { n: 2 }]);
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace('{"n":1}', '{"n":9}'));
    const first = await openAppendLog(path);
    expect(first.records).toEqual([{ n: 0 }, { n: 2 }]);
    expect(first.dropped).toBe(1);
    await first.log.close();
    expect((await read()).dropped).toBe(0);
  });

  test('bytes that are no text do no harm', async () => {
    await written([{ n: 0 }]);
    await appendFile(path, Buffer.from([0xff, 0x00, 0x0a, 0x80, 0x0a]));
    expect(await read()).toEqual({ records: [{ n: 0 }], dropped: 2 });
  });

  test('a rewrite puts the given records in the place of all, and appends go on behind them', async () => {
    const { log } = await openAppendLog(path);
    for (let n = 0; n < 100; n += 1) void log.append({ n });
    await log.rewrite(() => [{ whole: 99 }]);
    await log.append({ n: 100 });
    expect(log.size().records).toBe(2);
    await log.close();
    expect((await read()).records).toEqual([{ whole: 99 }, { n: 100 }]);
  });

  test('a rewrite and appends at the same time: each record is in the rewritten part or behind it, never in neither', async () => {
    const { log } = await openAppendLog(path);
    let applied = 0;
    for (let n = 0; n < 10; n += 1) void log.append({ n }, () => (applied += 1));
    const rewritten = log.rewrite(() => [{ applied }]);
    const later = log.append({ later: true }, () => (applied += 1));
    await Promise.all([rewritten, later]);
    await log.close();
    const [first, ...behind] = (await read()).records;
    expect((first as { applied: number }).applied + behind.length).toBe(11);
    expect((first as { applied: number }).applied).toBeGreaterThanOrEqual(10);
  });

  test('a rewrite that a crash interrupts leaves the old log', async () => {
    await written([{ n: 0 }]);
    await writeFile(`${path}.new`, 'half of someth');
    expect((await read()).records).toEqual([{ n: 0 }]);
  });

  test('after close nothing is taken any more, and closing again is no error', async () => {
    const { log } = await openAppendLog(path);
    const pending = log.append({ n: 1 });
    await log.close();
    await pending;
    await log.close();
    await expect(log.append({ n: 2 })).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect((await read()).records).toEqual([{ n: 1 }]);
  });

  test('a folder that is not there is one sentence', async () => {
    await expect(openAppendLog(join(folder, 'none', 'facts.log'))).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('facts.log cannot be written'),
    });
  });

  test('many appends share syncs: a thousand take far less than a thousand syncs', async () => {
    const { log } = await openAppendLog(path);
    await Promise.all(Array.from({ length: 1_000 }, (_, n) => log.append({ n })));
    expect(log.size().records).toBe(1_000);
    await log.close();
    expect((await read()).records).toHaveLength(1_000);
  });
});
