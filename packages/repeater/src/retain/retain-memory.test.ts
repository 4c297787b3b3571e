import { access, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { recordingLog } from '../../../../test/host/recording-log.ts';
import { openRetainMemory, type RetainMemory } from './retain-memory.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'retain-memory-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const open = (): Promise<RetainMemory> => openRetainMemory(join(folder, 'memory.log'), recordingLog().log);
const all = (memory: RetainMemory): unknown[] => memory.topics().map((topic) => [topic, memory.find(topic)]);

test('Law 11: what was intended, retained and forgotten is so after a restart', async () => {
  const memory = await open();
  for (const topic of ['s/a', 's/b', 's/c']) await memory.intend(topic, `m/${topic}`);
  await memory.retained('s/a', 'one');
  await memory.retained('s/a', 'two');
  await memory.forget('s/c');
  // Nobody asked for it: it is not remembered by that.
  await memory.retained('s/never', 'x');
  const before = all(memory);
  expect(before).toEqual([
    ['s/b', { sink: 'm/s/b', hash: '' }],
    ['s/a', { sink: 'm/s/a', hash: 'two' }],
  ]);
  await memory.close(false);
  const again = await open();
  expect(all(again)).toEqual(before);
  await again.close(true);
  await expect(access(join(folder, 'memory.log'))).rejects.toMatchObject({ code: 'ENOENT' });
});

test('a topic at the sink is shared for as long as two go there', async () => {
  const memory = await open();
  await memory.intend('s/a', 'one');
  expect(memory.isShared('one')).toBe(false);
  await memory.intend('s/b', 'one');
  await memory.retained('s/b', 'x');
  expect(memory.isShared('one')).toBe(true);
  await memory.forget('s/a');
  expect(memory.isShared('one')).toBe(false);
  await memory.close(false);
});

test('the file does not grow with the number of changes, and there is an end to what is remembered', async () => {
  const memory = await open();
  await memory.intend('s/a', 'm/s/a');
  for (let round = 0; round < 10; round += 1) {
    await Promise.all(Array.from({ length: 500 }, (_, n) => memory.retained('s/a', `${500 * round + n}`)));
  }
  await memory.close(false);
  const lines = (await readFile(join(folder, 'memory.log'), 'utf8')).split('\n');
  expect(lines.length).toBeLessThan(2_000);
  const again = await open();
  expect(all(again)).toEqual([['s/a', { sink: 'm/s/a', hash: '4999' }]]);
  const long = 'x'.repeat(60_000);
  for (let n = 0; !again.isFull(); n += 1) {
    if (n > 1_000) throw new Error('it is never full');
    await again.intend(`${n}${long}`, 'one');
  }
  await again.close(false);
}, 120_000);
