import { spawn } from 'node:child_process';
import { mkdtemp, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openInstanceTable } from './instance-table.ts';

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const deps = { nowMs: Date.now, log };

let path: string;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'simulator-crash-'));
  path = join(folder, 'compute.log');
});
afterEach(() => rm(folder, { recursive: true }));

const writer = (table: string): string => `
  import { openInstanceTable } from ${JSON.stringify(table)};
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const table = await openInstanceTable(process.env.TABLE, { nowMs: Date.now, log });
  const one = async () => {
    const ID = table.newId();
    await table.put({ description: { ID, LogicalID: null, Tags: null }, init: '', attachments: null });
    process.stdout.write(ID + '\\n');
  };
  for (;;) await Promise.all(Array.from({ length: 20 }, one));
`;

/** Writes instances in a process of its own and kills it hard after `lines` answers; gives the ids that were answered. */
const crash = (lines: number): Promise<string[]> =>
  new Promise((resolve, reject) => {
    const source = new URL('./instance-table.ts', import.meta.url).pathname;
    const args = ['--import', 'tsx', '--conditions=@infrakit/source', '--input-type=module', '-e', writer(source)];
    const child = spawn(process.execPath, args, { env: { ...process.env, TABLE: path } });
    let out = '';
    let errors = '';
    child.stderr.on('data', (chunk) => {
      errors += chunk;
    });
    child.stdout.on('data', (chunk) => {
      out += chunk;
      if (out.split('\n').length > lines) child.kill('SIGKILL');
    });
    child.on('exit', (_, signal) => {
      if (signal === 'SIGKILL') resolve(out.split('\n').slice(0, -1));
      else reject(new Error(`the writer ended by itself: ${errors}`));
    });
  });

test('Law 11: after kill -9 every answered instance is there, and later ids are new', async () => {
  let answered: string[] = [];
  for (const lines of [50, 170, 333]) {
    answered = [...answered, ...(await crash(lines))];
    const table = await openInstanceTable(path, deps);
    const ids = new Set(table.all().map(({ ID }) => ID));
    expect(answered.filter((id) => !ids.has(id))).toEqual([]);
    expect(ids.has(table.newId())).toBe(false);
    await table.close();
  }
});

test('Law 11: with the last records cut off it starts by itself and has all before them', async () => {
  const answered = await crash(100);
  const { size } = await stat(path);
  await truncate(path, size - 150);
  const table = await openInstanceTable(path, deps);
  const ids = new Set(table.all().map(({ ID }) => ID));
  expect(answered.slice(0, -5).filter((id) => !ids.has(id))).toEqual([]);
  await table.close();
});
