import { execFile } from 'node:child_process';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { systemClock } from '@infrakit/runtime';
import { load } from 'js-yaml';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startHere, temporaryHome } from '../../../test/e2e/hosts.ts';
import { followFile } from './file-follower.ts';
import { followPipe } from './pipe-follower.ts';
import { tailerDefinition } from './tailer-definition.ts';
import { TailerOptions } from './tailer-options.ts';

const run = promisify(execFile);

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tailer-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('start options (GP §3.4)', () => {
  test('without any it follows test.log in the folder where it is started, or what INFRAKIT_TAILER_PATH says', () => {
    const own = { ReOpen: true, MustExist: false, Pipe: false };
    expect(TailerOptions.parse({}).Files).toEqual([{ Path: resolve('test.log'), ...own }]);
    const read = tailerDefinition.environment?.INFRAKIT_TAILER_PATH?.('/var/log/x');
    expect(TailerOptions.parse(read).Files).toEqual([{ Path: '/var/log/x', ...own }]);
  });

  test('what packages/README.md shows of them is what it takes, and has each of them', async () => {
    const page = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
    const shown = [...page.matchAll(/^```yaml\n(tailer:[\s\S]*?)^```$/gm)].map(([, text = '']) => load(text));
    expect(shown).toHaveLength(1);
    const [{ tailer }] = shown as [{ tailer: { Files: object[] } }];
    expect(TailerOptions.parse(tailer).Files).toHaveLength(3);
    const known = Object.keys(TailerOptions.parse({}).Files[0] ?? {});
    expect([...new Set(tailer.Files.flatMap(Object.keys))].sort()).toEqual(known.sort());
    expect(page).toContain('`INFRAKIT_TAILER_PATH`');
  });

  test('a path twice is refused by name', () => {
    expect(() => TailerOptions.parse({ Files: [{ Path: 'a' }, { Path: 'b' }, { Path: 'a' }] })).toThrow(
      /duplicate path: a/,
    );
  });

  test('MustExist: without the file it does not start, and says which', async () => {
    await using home = await temporaryHome();
    const path = join(folder, 'nowhere.log');
    const starting = startHere(['tailer'], {
      home: home.path,
      pluginOptions: { tailer: { Files: [{ Path: path, MustExist: true }] } },
    });
    await expect(starting).rejects.toThrow(`${path} must be there for the tailer to start, and is not`);
  });
});

describe('a followed pipe (GP §3.4, Pipe)', () => {
  const seen = async (list: readonly string[], expected: readonly string[]): Promise<void> => {
    await expect.poll(() => [...list], { timeout: 5_000 }).toEqual(expected);
  };

  test('lines of one who writes and of the next one; one that takes its place; it stops while nobody writes', async () => {
    const path = join(folder, 'pipe');
    const lines: string[] = [];
    const changes: string[] = [];
    const follower = followPipe({ path, everyMs: 5 }, systemClock, {
      line: (line) => lines.push(line),
      change: (what) => changes.push(what),
      trouble: () => undefined,
    });
    await follower.begun;
    await run('mkfifo', [path]);
    await appendFile(path, 'one\ntw');
    await appendFile(path, 'o\n');
    await seen(lines, ['one', 'two']);
    await rm(path);
    await seen(changes, ['absent', 'vanished']);
    await run('mkfifo', [path]);
    await appendFile(path, 'three\n');
    await seen(lines, ['one', 'two', 'three']);
    await follower.stop();
  });

  test('that is not said to be one holds nothing up', async () => {
    const path = join(folder, 'pipe');
    await run('mkfifo', [path]);
    const troubles: string[] = [];
    const follower = followFile({ path, isReopened: true, everyMs: 5 }, systemClock, {
      line: () => undefined,
      change: () => undefined,
      trouble: (why) => troubles.push(why),
    });
    await follower.begun;
    await follower.stop();
    expect(troubles).toEqual(['it is a named pipe, and Pipe is not set']);
  });

  test('what is no pipe is left alone', async () => {
    const path = join(folder, 'file');
    await writeFile(path, 'a line\n');
    const lines: string[] = [];
    const troubles: string[] = [];
    const follower = followPipe({ path, everyMs: 5 }, systemClock, {
      line: (line) => lines.push(line),
      change: () => undefined,
      trouble: (why) => troubles.push(why),
    });
    await follower.begun;
    await follower.stop();
    expect([lines, troubles]).toEqual([[], ['it is no named pipe, and Pipe is set']]);
  });
});
