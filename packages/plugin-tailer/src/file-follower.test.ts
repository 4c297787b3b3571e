import { appendFile, mkdtemp, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@infrakit/runtime';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FileFollower, followFile } from './file-follower.ts';
import { lineSplitter } from './line-splitter.ts';

let folder: string;
let path: string;
let follower: FileFollower | undefined;
let lines: string[];
let changes: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tailer-'));
  path = join(folder, 'a.log');
  lines = [];
  changes = [];
});
afterEach(async () => {
  await follower?.stop();
  follower = undefined;
  await rm(folder, { recursive: true });
});

const follow = (isReopened = true): void => {
  follower = followFile({ path, isReopened, everyMs: 5 }, systemClock, {
    line: (line) => lines.push(line),
    change: (what) => changes.push(what),
  });
};

const seen = async (expected: readonly string[], list: () => readonly string[] = () => lines): Promise<void> => {
  const endMs = Date.now() + 5_000;
  while (list().length < expected.length && Date.now() < endMs) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(list()).toEqual(expected);
};

describe('a followed file (GP §3.4)', () => {
  test('is followed from its end; lines come whole, however they are written', async () => {
    await writeFile(path, 'old\n');
    follow();
    await new Promise((resolve) => setTimeout(resolve, 30));
    await appendFile(path, 'one\ntw');
    await seen(['one']);
    await appendFile(path, 'o\r\nthree\n');
    await seen(['one', 'two', 'three']);
  });

  test('that appears later is followed from its beginning', async () => {
    follow();
    await new Promise((resolve) => setTimeout(resolve, 30));
    await writeFile(path, 'first\n');
    await seen(['first']);
    expect(changes).toEqual(['appeared']);
  });

  test('that is rotated is read to its end, then the new one is', async () => {
    await writeFile(path, '');
    follow();
    await new Promise((resolve) => setTimeout(resolve, 30));
    await appendFile(path, 'before\n');
    await rename(path, `${path}.1`);
    await appendFile(`${path}.1`, 'late\n');
    await writeFile(path, 'after\n');
    await seen(['before', 'late', 'after']);
  });

  test('that was moved before there is a new one is read on, since its writer may be late', async () => {
    await writeFile(path, '');
    follow();
    await new Promise((resolve) => setTimeout(resolve, 30));
    await appendFile(path, 'before\n');
    await rename(path, `${path}.1`);
    await seen(['vanished'], () => changes);
    await appendFile(`${path}.1`, 'late\n');
    await seen(['before', 'late']);
    await writeFile(path, 'after\n');
    await seen(['before', 'late', 'after']);
    expect(changes).toEqual(['vanished', 'appeared']);
  });

  test('that is truncated is read from its beginning, without the half line from before', async () => {
    await writeFile(path, '');
    follow();
    await new Promise((resolve) => setTimeout(resolve, 30));
    await appendFile(path, 'a line\nhalf');
    await seen(['a line']);
    await truncate(path, 0);
    await seen(['truncated'], () => changes);
    await appendFile(path, 'new\n');
    await seen(['a line', 'new']);
  });

  test('that vanishes may come back', async () => {
    await writeFile(path, '');
    follow();
    await new Promise((resolve) => setTimeout(resolve, 30));
    await rm(path);
    await seen(['vanished'], () => changes);
    await writeFile(path, 'again\n');
    await seen(['again']);
  });
});

test('lines: characters cut apart are put together, endless lines are cut', () => {
  const splitter = lineSplitter();
  const euro = Buffer.from('€\n');
  expect(splitter.push(euro.subarray(0, 1))).toEqual([]);
  expect(splitter.push(euro.subarray(1))).toEqual(['€']);
  expect(splitter.push(Buffer.alloc(600 * 1024, 'a')).map(({ length }) => length)).toEqual([256 * 1024, 256 * 1024]);
});
