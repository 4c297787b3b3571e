import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = join(root, 'packages/cli/bin/infrakit.js');

let folder = '';
beforeEach(() => {
  if (!existsSync(join(root, 'packages/cli/dist/bundle/main.js'))) throw new Error('not built: run `npm run build`');
  folder = mkdtempSync(join(tmpdir(), 'infrakit-package-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('the bin is an executable file: npm links it before there is a build', () => {
  expect(statSync(bin).mode & 0o111).toBe(0o111);
});

test('the bin of an unbuilt checkout says what to do, in one sentence, and exits 1', () => {
  mkdirSync(join(folder, 'bin'));
  cpSync(bin, join(folder, 'bin/infrakit.mjs'));
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, 'bin/infrakit.mjs'), 'version'], {
    encoding: 'utf8',
  });
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: '',
    stderr: 'infrakit: this checkout is not built yet: run `npm run build`\n',
  });
});

test('npm pack gives a package that runs where only its dependencies are', () => {
  const packed = execFileSync('npm', ['pack', '--json', '-w', 'infrakit', '--pack-destination', folder], {
    cwd: root,
    encoding: 'utf8',
  });
  const [{ filename, files }] = JSON.parse(packed) as [{ filename: string; files: { path: string }[] }];
  const paths = files.map((file) => file.path);
  expect(paths).toEqual(expect.arrayContaining(['package.json', 'bin/infrakit.js', 'dist/bundle/main.js']));
  expect(paths.filter((path) => /\.test\.|tsbuildinfo|^src\//.test(path))).toEqual([]);

  const installed = join(folder, 'node_modules/infrakit');
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', join(folder, filename), '--strip-components=1', '-C', installed]);
  const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies)) {
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  }
  const { status, stdout } = spawnSync(join(installed, 'bin/infrakit.js'), ['--version'], { encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 0, stdout: 'infrakit 0.1.0\n' });
  const { stderr } = spawnSync(join(installed, 'bin/infrakit.js'), ['plugin', 'start', 'gruop'], { encoding: 'utf8' });
  expect(stderr).toContain('did you mean group?');
});

test('issue 7, "Writing a plugin in TypeScript": packed, the template and what it needs work in a folder of its own', () => {
  const names = ['core', 'spi', 'plugin-template'];
  const args = [
    'pack',
    '--json',
    '--pack-destination',
    folder,
    ...names.flatMap((name) => ['-w', `@infrakit/${name}`]),
  ];
  const packed = JSON.parse(execFileSync('npm', args, { cwd: root, encoding: 'utf8' })) as { filename: string }[];
  for (const [index, { filename }] of packed.entries()) {
    const installed = join(folder, 'node_modules/@infrakit', names[index] ?? '');
    mkdirSync(installed, { recursive: true });
    execFileSync('tar', ['-xzf', join(folder, filename), '--strip-components=1', '-C', installed]);
    const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    for (const name of Object.keys(dependencies).filter((name) => !name.startsWith('@infrakit/'))) {
      if (existsSync(join(folder, 'node_modules', name))) continue;
      symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
    }
  }
  const script = "console.log((await import('@infrakit/plugin-template')).default.kind)";
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect({ stdout, stderr }).toEqual({ stdout: 'notes\n', stderr: '' });
});

describe('README.md', () => {
  const text = readFileSync(join(root, 'README.md'), 'utf8');
  const blocks = [...text.matchAll(/^```console\n\$ npx infrakit (.*)\n([\s\S]*?)^```$/gm)];

  test.each(blocks.map(([, args = '', output = '']) => ({ args, output })))(
    'infrakit $args prints what it shows',
    ({ args, output }) => {
      expect(execFileSync(bin, args.split(' '), { encoding: 'utf8' })).toBe(output);
    },
  );

  test('names only npm scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const named = [...text.matchAll(/\bnpm (?:run )?([a-z]+)/g)].map(([, name]) => name);
    expect(named.filter((name) => name !== 'ci' && name !== 'package')).not.toEqual([]);
    for (const name of named) expect(['ci', 'package', ...Object.keys(scripts)]).toContain(name);
  });

  test('gives the line that .ci/run runs', () => {
    const line = /^npm ci && npm run setup.*$/m;
    const run = line.exec(readFileSync(join(root, '.ci/run'), 'utf8'))?.[0];
    expect(run).toBeDefined();
    expect(line.exec(text)?.[0]).toBe(run);
  });
});
