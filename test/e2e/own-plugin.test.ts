import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryHome } from './hosts.ts';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const infrakit = join(repository, 'packages/cli/bin/infrakit.js');
const run = promisify(execFile);

/** A folder with a package of somebody's, below the workspace's modules so that what it imports is found. */
const project = async (): Promise<{ readonly path: string } & AsyncDisposable> => {
  const cache = join(repository, 'node_modules/.cache');
  await mkdir(cache, { recursive: true });
  const path = await mkdtemp(join(cache, 'infrakit-project-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
};

/** Copies the template under another name and builds it, as its README section tells. */
const buildCopy = async (folder: string, name: string): Promise<void> => {
  const template = join(repository, 'packages/plugin-template');
  await mkdir(folder, { recursive: true });
  await cp(join(template, 'src'), join(folder, 'src'), { recursive: true });
  const manifest = await readFile(join(template, 'package.json'), 'utf8');
  await writeFile(join(folder, 'package.json'), manifest.replace('@infrakit/plugin-template', name));
  const config = {
    extends: join(repository, 'test/tsconfig.base.json'),
    compilerOptions: { rootDir: 'src', outDir: 'dist', declaration: true },
    include: ['src'],
    exclude: ['src/**/*.test.ts'],
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
  await run(process.execPath, [join(repository, 'node_modules/typescript/bin/tsc'), '-p', folder]);
};

/** `infrakit plugin start …` as a process of its own, once it is ready. */
const start = async (plugins: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<AsyncDisposable> => {
  const child = spawn(process.execPath, [infrakit, 'plugin', 'start', ...plugins], {
    cwd,
    env: { ...env, INFRAKIT_LISTEN: '127.0.0.1:0', INFRAKIT_LOG_FORMAT: 'json' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'close');
  let stderr = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (data: Buffer) => {
      stderr += data;
      if (stderr.includes('"msg":"ready"')) resolve();
    });
    void ended.then(() => reject(new Error(`it ended: ${stderr}`)));
  });
  return {
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
};

test('the template, copied, built and started as npm:<package>:name, is driven from the command line', async () => {
  await using home = await temporaryHome();
  await using place = await project();
  await buildCopy(join(place.path, 'node_modules/somebodys-notes'), 'somebodys-notes');
  const env = { PATH: process.env.PATH, INFRAKIT_HOME: home.path };
  await using _host = await start(['npm:somebodys-notes:pad'], place.path, env);
  const call = async (...words: string[]): Promise<string> =>
    (await run(process.execPath, [infrakit, 'local', ...words], { cwd: place.path, env })).stdout.trim();

  const spec = join(place.path, 'note.json');
  await writeFile(spec, JSON.stringify({ Properties: { Text: 'buy milk' }, Tags: { list: 'food' } }));
  const id = await call('pad/note', 'provision', spec);
  expect(JSON.parse(await call('pad/note', 'describe', '-o', 'json', '--properties'))).toMatchObject([
    { ID: id, Tags: { list: 'food' }, Properties: { Text: 'buy milk' } },
  ]);
  await call('pad/note', 'destroy', id);
  expect(JSON.parse(await call('pad/note', 'describe', '-o', 'json'))).toEqual([]);
  // Its errors keep their codes although its copy of the error class is not the host's.
  await expect(call('pad/note', 'destroy', id)).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`there is no note ${id}`),
  });
}, 60_000);

test('a program is started as exec:<name> with options of a file, and driven from the command line', async () => {
  await using home = await temporaryHome();
  const env = { PATH: process.env.PATH, INFRAKIT_HOME: home.path };
  const options = join(home.path, 'options.yml');
  const Command = join(repository, 'packages/plugin-exec/examples/folder.sh');
  await writeFile(options, `things:\n  Command: ${Command}\n  Concurrency: 2\n`);
  await using _host = await start(['exec:things', '--options', options], home.path, env);
  const call = async (...words: string[]): Promise<string> =>
    (await run(process.execPath, [infrakit, 'local', ...words], { cwd: home.path, env })).stdout.trim();
  const spec = join(home.path, 'thing.json');
  await writeFile(spec, JSON.stringify({ Properties: { size: 1 }, Tags: { tier: 'web' } }));
  const id = await call('things/instance', 'provision', spec);
  await call('things/instance', 'label', id, 'more=yes');
  expect(JSON.parse(await call('things/instance', 'describe', '-o', 'json'))).toMatchObject([
    { ID: id, Tags: { tier: 'web', more: 'yes' } },
  ]);
  await call('things/instance', 'destroy', id);
  expect(JSON.parse(await call('things/instance', 'describe', '-o', 'json'))).toEqual([]);
}, 60_000);

test('plugin check exec: 0 for a good program, 1 and words for a bad one', async () => {
  const check = (...words: string[]) => run(process.execPath, [infrakit, 'plugin', 'check', 'exec', ...words]);
  const good = join(repository, 'packages/plugin-exec/examples/folder.sh');
  const { stdout } = await check('--only', 'destroy', good);
  expect(stdout).toMatch(/\n\d+ passed, 0 failed, 0 not checked\n$/);
  await expect(check('/bin/echo', 'hello')).rejects.toMatchObject({
    code: 1,
    stdout: expect.stringContaining('notes belong on stderr'),
  });
}, 60_000);
