import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { recordingLog } from '../../../../test/host/recording-log.ts';
import { type DiskBuffer, openDiskBuffer, type UnderWay } from './disk-buffer.ts';

let root: string;
let folder: string;
let lines: ReturnType<typeof recordingLog>;
let opened: DiskBuffer[];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'disk-buffer-'));
  folder = join(root, 'one');
  lines = recordingLog();
  opened = [];
});
afterEach(async () => {
  for (const buffer of opened) await buffer.close();
  await rm(root, { recursive: true, force: true });
});

const openAt = async (path: string, fileBytes = 1_000): Promise<DiskBuffer> => {
  const buffer = await openDiskBuffer({
    folder: path,
    fileBytes: () => fileBytes,
    log: lines.log,
    freed: () => undefined,
    failed: () => undefined,
  });
  opened.push(buffer);
  return buffer;
};
const open = (fileBytes?: number) => openAt(folder, fileBytes);

const message = (n: number, qos = 1) => ({
  receivedMs: 1_000 + n,
  flags: 0x30 | (qos << 1),
  id: n + 1,
  topic: Buffer.from(`a/${n}`),
  properties: Buffer.alloc(0),
  payload: Buffer.from(`${n}`),
});
const add = async (buffer: DiskBuffer, from: number, to: number, qos = 1): Promise<void> => {
  await Promise.all(Array.from({ length: to - from }, (_, n) => buffer.add(message(from + n, qos))));
};
const numberOf = ({ message: { payload } }: UnderWay): number => Number(payload.toString());
const takeAll = async (buffer: DiskBuffer): Promise<UnderWay[]> => {
  for (let one = await buffer.take(); one !== null; ) one = await buffer.take();
  return [...buffer.underWay()];
};
const upTo = (count: number, from = 0): number[] => Array.from({ length: count - from }, (_, n) => from + n);

/** What a process that was killed at this moment would leave. */
const crashed = async (name: string): Promise<string> => {
  const copy = join(root, name);
  await mkdir(copy);
  for (const file of await readdir(folder)) {
    // One in which nothing waits may be going at this moment.
    await copyFile(join(folder, file), join(copy, file)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }
  return copy;
};

describe('what is in a buffer outlives its process', () => {
  test('in its order; those under way keep their packet ids; what is done does not come again', async () => {
    const first = await open();
    await add(first, 0, 100);
    const way = await takeAll(first);
    expect(way.map(numberOf)).toEqual(upTo(100));
    for (const one of way.slice(0, 30)) await first.done(one);
    const second = await openAt(await crashed('copy'));
    expect(second.underWay().map(numberOf)).toEqual(upTo(100, 30));
    expect(second.underWay().map(({ id }) => id)).toEqual(way.slice(30).map(({ id }) => id));
    expect(second.status()).toMatchObject({ messages: 70, oldestMs: 1_030 });
    expect(second.status().bytes).toBe(first.status().bytes);
  });

  test('what the sink has received is released after a restart, and not sent again (MQTT-4.3.3-1)', async () => {
    const first = await open();
    await add(first, 0, 3, 2);
    const [, one] = await takeAll(first);
    if (one === undefined) throw new Error('nothing under way');
    await first.recorded(one);
    const second = await openAt(await crashed('copy'));
    expect(second.underWay().map(({ isRecorded }) => isRecorded)).toEqual([false, true, false]);
  });

  test('a QoS 2 message that was not released is known by its packet id, until it is (MQTT-4.3.3-2)', async () => {
    const first = await open();
    await first.setKnown(true);
    await add(first, 0, 2, 2);
    await first.released(1);
    const second = await openAt(await crashed('copy'));
    expect(second.isKnown()).toBe(true);
    expect(second.received(1)).toBeNull();
    expect(second.received(2)).not.toBeNull();
    await second.setKnown(true);
    expect(second.received(2)).toBeNull();
  });

  test('any end of the file that a crash can leave loses only what was not durable', async () => {
    const first = await open(1_000_000);
    const [name = ''] = await readdir(folder);
    const path = join(folder, name);
    const durable: number[] = [];
    for (let n = 0; n < 5; n += 1) {
      await add(first, n, n + 1);
      durable.push((await stat(path)).size);
    }
    const whole = durable.at(-1) ?? 0;
    for (let size = durable[0] ?? 0; size <= whole; size += 7) {
      const copy = await crashed(`at${size}`);
      await truncate(join(copy, name), size);
      const again = await openAt(copy);
      expect((await takeAll(again)).map(numberOf)).toEqual(upTo(durable.filter((end) => end <= size).length));
      // And it goes on.
      await add(again, 9, 10);
      await again.close();
      expect((await takeAll(await openAt(copy))).map(numberOf)).toContain(9);
    }
  });
});

test('it says when so much is on its way to the disk that more should wait', async () => {
  const buffer = await open();
  const large = { ...message(0), payload: Buffer.alloc(1024 * 1024) };
  const added = Array.from({ length: 8 }, () => buffer.add(large));
  expect(buffer.isBehind()).toBe(true);
  await Promise.all(added);
  expect(buffer.isBehind()).toBe(false);
});

describe('its files', () => {
  test('follow each other and go when nothing in them waits, also those in the middle', async () => {
    const buffer = await open(2_000);
    await add(buffer, 0, 10);
    const way = await takeAll(buffer);
    for (let n = 10; n < 400; n += 10) await add(buffer, n, n + 10);
    const most = (await readdir(folder)).length;
    expect(most).toBeGreaterThan(5);
    for (let n = 10; n < 400; n += 1) expect((await buffer.dropOldest())?.topic).toBe(`a/${n}`);
    expect(await buffer.dropOldest()).toBeNull();
    // Those under way hold up only their own file.
    await add(buffer, 400, 401);
    await expect.poll(async () => (await readdir(folder)).length).toBeLessThanOrEqual(3);
    const again = await openAt(await crashed('copy'), 2_000);
    expect((await takeAll(again)).map(numberOf)).toEqual([...way.map(numberOf), 400]);
  });

  test('one that was begun and has nothing in it is no reason to fail', async () => {
    const buffer = await open();
    await add(buffer, 0, 5);
    await buffer.close();
    await writeFile(join(folder, '000000000099.buffer'), 'not whole');
    expect((await takeAll(await open())).map(numberOf)).toEqual(upTo(5));
  });

  test('damage in one of them loses what stood behind it there, is told, and no more', async () => {
    const buffer = await open(2_000);
    for (let n = 0; n < 100; n += 10) await add(buffer, n, n + 10);
    await buffer.close();
    const [name = ''] = (await readdir(folder)).sort();
    const bytes = await readFile(join(folder, name));
    bytes[bytes.length - 10] = (bytes[bytes.length - 10] ?? 0) ^ 0xff;
    await writeFile(join(folder, name), bytes);
    const again = await open(2_000);
    const seen = (await takeAll(again)).map(numberOf);
    expect(seen.length).toBeGreaterThan(80);
    expect(seen.length).toBeLessThan(100);
    expect(seen).toEqual(upTo(100).filter((n) => seen.includes(n)));
    expect(seen).toContain(99);
    expect(lines.lines.some(({ level, message: text }) => level === 'error' && text.includes('are lost'))).toBe(true);
  });

  test('a disk that refuses is an error for everything that waited, and it is opened anew with what was durable', async () => {
    const buffer = await open(1);
    await add(buffer, 0, 3);
    // The next file cannot be made.
    await rm(folder, { recursive: true });
    await writeFile(folder, '');
    const results = await Promise.allSettled([buffer.add(message(3)), buffer.add(message(4))]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(buffer.add(message(5))).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await expect(open()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });
});

/** What may happen to a buffer. */
const step = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), count: fc.integer({ min: 1, max: 40 }) }),
  fc.record({ kind: fc.constant('send' as const), count: fc.integer({ min: 1, max: 30 }) }),
  fc.record({ kind: fc.constant('record' as const), at: fc.nat(40) }),
  fc.record({ kind: fc.constant('done' as const), at: fc.nat(40) }),
  fc.record({ kind: fc.constant('drop' as const), count: fc.integer({ min: 1, max: 30 }) }),
  fc.record({ kind: fc.constant('crash' as const) }),
);

test('whatever happens, in any order and over crashes: what is neither done nor dropped is there, in order, under its id', async () => {
  let [runs, crashes] = [0, 0];
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      runs += 1;
      folder = join(root, `run${runs}`);
      let buffer = await open(1_500);
      let added = 0;
      const there = new Set<number>();
      const recorded = new Set<number>();
      const ids = new Map<number, number>();
      const at = (place: number) => buffer.underWay()[place];
      for (const one of steps) {
        if (one.kind === 'add') {
          await add(buffer, added, added + one.count, 2);
          for (const n of upTo(added + one.count, added)) there.add(n);
          added += one.count;
        } else if (one.kind === 'send') {
          for (let n = 0; n < one.count; n += 1) {
            const sent = await buffer.take();
            if (sent === null) break;
            ids.set(numberOf(sent), sent.id);
          }
        } else if (one.kind === 'drop') {
          for (let n = 0; n < one.count; n += 1) {
            const never = [...there].filter((number) => !buffer.underWay().some((way) => numberOf(way) === number));
            const gone = await buffer.dropOldest();
            expect(gone?.topic).toBe(never.length === 0 ? undefined : `a/${Math.min(...never)}`);
            if (gone !== null) there.delete(Math.min(...never));
          }
          // Drops are durable with what is written next.
          await buffer.setKnown(true);
        } else if (one.kind === 'crash') {
          const before = buffer;
          crashes += 1;
          folder = await crashed(`crash${crashes}`);
          buffer = await open(1_500);
          await before.close();
        } else {
          const found = at(one.at);
          if (found === undefined) continue;
          if (one.kind === 'record') {
            await buffer.recorded(found);
            recorded.add(numberOf(found));
          } else {
            await buffer.done(found);
            there.delete(numberOf(found));
          }
        }
      }
      await buffer.close();
      buffer = await open(1_500);
      const seen: number[] = [];
      for (;;) {
        const way = await takeAll(buffer);
        if (way.length === 0) break;
        for (const found of way) {
          const n = numberOf(found);
          seen.push(n);
          if (ids.has(n)) expect(found.id).toBe(ids.get(n));
          expect(found.isRecorded).toBe(recorded.has(n));
          await buffer.done(found);
        }
      }
      expect(seen).toEqual([...there].sort((left, right) => left - right));
      expect(buffer.status()).toMatchObject({ messages: 0, bytes: 0 });
      await buffer.close();
    }),
    { numRuns: 60 },
  );
}, 60_000);
