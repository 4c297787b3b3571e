import { appendFile, mkdir, mkdtemp, rename, rm, rmdir, truncate, writeFile } from 'node:fs/promises';
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
let troubles: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tailer-'));
  path = join(folder, 'a.log');
  lines = [];
  changes = [];
  troubles = [];
});
afterEach(async () => {
  await follower?.stop();
  follower = undefined;
  await rm(folder, { recursive: true });
});

const follow = async (isReopened = true): Promise<void> => {
  follower = followFile({ path, isReopened, everyMs: 5 }, systemClock, {
    line: (line) => lines.push(line),
    change: (what) => changes.push(what),
    trouble: (why) => troubles.push(why),
  });
  await follower.begun;
};

const seen = async (expected: readonly string[], list: () => readonly string[] = () => lines): Promise<void> => {
  const endMs = performance.now() + 10_000;
  while (list().length < expected.length && performance.now() < endMs)
    await new Promise((resolve) => setTimeout(resolve, 5));
  expect(list()).toEqual(expected);
};

describe('a followed file (GP §3.4)', () => {
  test('is followed from its end; lines come whole, however they are written', async () => {
    await writeFile(path, 'old\n');
    await follow();
    await appendFile(path, 'one\ntw');
    await seen(['one']);
    await appendFile(path, 'o\r\nthree\n');
    await seen(['one', 'two', 'three']);
  });

  test('that appears later is followed from its beginning', async () => {
    await follow();
    await writeFile(path, 'first\n');
    await seen(['first']);
    expect(changes).toEqual(['absent', 'appeared']);
  });

  test('that is rotated is read to its end, then the new one is', async () => {
    await writeFile(path, '');
    await follow();
    await appendFile(path, 'before\n');
    await rename(path, `${path}.1`);
    await appendFile(`${path}.1`, 'late\n');
    await writeFile(path, 'after\n');
    await seen(['before', 'late', 'after']);
  });

  test('that was moved before there is a new one is read on, since its writer may be late', async () => {
    await writeFile(path, '');
    await follow();
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
    await follow();
    await appendFile(path, 'a line\nhalf');
    await seen(['a line']);
    await truncate(path, 0);
    await seen(['truncated'], () => changes);
    await appendFile(path, 'new\n');
    await seen(['a line', 'new']);
  });

  test('that vanishes may come back', async () => {
    await writeFile(path, '');
    await follow();
    await rm(path);
    await seen(['vanished'], () => changes);
    await writeFile(path, 'again\n');
    await seen(['again']);
  });

  test('that is left for good ends with a line, though it has no line break', async () => {
    await writeFile(path, '');
    await follow();
    await appendFile(path, 'one\nthe last');
    await seen(['one']);
    await rename(path, `${path}.1`);
    await writeFile(path, 'two\nunfinished');
    await seen(['one', 'the last', 'two']);
    await rm(path);
    await seen(['one', 'the last', 'two', 'unfinished']);
  });

  test('that is none is told of once, and what takes its place is followed', async () => {
    await mkdir(path);
    await follow();
    await seen(['it is no file'], () => troubles);
    await rmdir(path);
    await writeFile(path, 'now\n');
    await seen(['now']);
    expect(troubles).toEqual(['it is no file']);
    expect(changes).toEqual(['appeared']);
  });

  test('whose folder is no folder for a while is read on where it was left', async () => {
    await rm(folder, { recursive: true });
    await mkdir(folder);
    await writeFile(path, '');
    await follow();
    await appendFile(path, 'one\n');
    await seen(['one']);
    await rename(folder, `${folder}.away`);
    await writeFile(folder, '');
    await seen(['a reason'], () => troubles.map(() => 'a reason'));
    expect(troubles).toEqual([expect.stringContaining('ENOTDIR')]);
    await rm(folder);
    await rename(`${folder}.away`, folder);
    await appendFile(path, 'two\n');
    await seen(['one', 'two']);
  });
});

test('lines: characters cut apart are put together, endless lines are cut', () => {
  const splitter = lineSplitter();
  const euro = Buffer.from('€\n');
  expect(splitter.push(euro.subarray(0, 1))).toEqual([]);
  expect(splitter.push(euro.subarray(1))).toEqual(['€']);
  expect(splitter.end()).toEqual([]);
  splitter.push(Buffer.from('half'));
  expect(splitter.end()).toEqual(['half']);
  expect(splitter.push(Buffer.alloc(600 * 1024, 'a')).map(({ length }) => length)).toEqual([256 * 1024, 256 * 1024]);
});
