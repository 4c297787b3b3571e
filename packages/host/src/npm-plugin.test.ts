import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { npmKind } from './npm-plugin.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'npm-'));
});
afterEach(() => rm(folder, { recursive: true }));

const put = async (path: string, text: string): Promise<void> => {
  const whole = join(folder, path);
  await mkdir(dirname(whole), { recursive: true });
  await writeFile(whole, text);
};
const install = async (name: string, manifest: object, files: Readonly<Record<string, string>>): Promise<void> => {
  await put(`node_modules/${name}/package.json`, JSON.stringify({ name, ...manifest }));
  for (const [file, text] of Object.entries(files)) await put(`node_modules/${name}/${file}`, text);
};

const body = `{ kind: 'k', summary: 's', isSingle: false, options: { safeParse: (data) => ({ success: true, data }) }, start: async () => ({}) }`;
const esm = { type: 'module' };

it.each([
  ['the default export', { ...esm, exports: './i.js' }, { 'i.js': `export default ${body}` }],
  ['the export `definition`', { ...esm, main: 'i.js' }, { 'i.js': `export const definition = ${body}` }],
  ['index.js', esm, { 'index.js': `export default ${body}` }],
  [
    'conditions',
    { exports: { '.': { types: './i.d.ts', import: './i.mjs', require: './no.cjs' } } },
    { 'i.mjs': `export default ${body}` },
  ],
  ['CommonJS', { main: 'i.js' }, { 'i.js': `module.exports = ${body}` }],
  ['CommonJS with a default', { main: 'i.js' }, { 'i.js': `exports.default = ${body}` }],
])('a plugin is found by %s, from a folder below too', async (_, manifest, files) => {
  await install('@some/plugin', manifest, files);
  const kind = await npmKind('@some/plugin', [join(folder, 'below/it')]);
  expect(kind).toMatchObject({ kind: 'k', aliases: [] });
  expect(await kind.load()).toMatchObject({ kind: 'k' });
});

it('the second folder is looked at when the first has it not', async () => {
  await install('plugin', esm, { 'index.js': `export default ${body}` });
  expect(await npmKind('plugin', [tmpdir(), folder])).toMatchObject({ kind: 'k' });
});

const change = (text: string, instead: string): string => `export default ${body.replace(text, instead)}`;

it.each([
  ['export const other = 1', 'is no plugin: it exports no definition, neither by default nor as `definition`'],
  [
    change("kind: 'k'", "kind: 'a/b'"),
    'is no plugin: it must give its `kind`, a text without "/", ":", "=" and blanks',
  ],
  [change("summary: 's', ", ''), 'is no plugin: it must give its `summary`, a text'],
  [change('isSingle: false', 'isSingle: 0'), 'is no plugin: it must say `isSingle`, true or false'],
  [change('safeParse:', 'parse:'), 'is no plugin: it must give its `options`, a zod schema'],
  [change('start:', 'begin:'), 'is no plugin: it must give `start`, a function'],
  [change('{ kind', '{ aliases: "a", kind'), 'is no plugin: it must give `aliases` as a list of texts, or not at all'],
  [
    change('{ kind', '{ environment: { A: 1 }, kind'),
    'is no plugin: it must give `environment` as functions by the names of variables, or not at all',
  ],
  ['throw new Error("no luck\\nat all")', 'cannot be imported: no luck'],
])('%s is one sentence', async (text, why) => {
  await install('plugin', esm, { 'index.js': text });
  await expect(npmKind('plugin', [folder])).rejects.toMatchObject({
    code: 'PLUGIN_KIND_UNKNOWN',
    message: `plugin ${why}`,
  });
});

it('a package that is not there, and what is no name of one, is one sentence', async () => {
  await expect(npmKind('nowhere-at-all', [folder])).rejects.toMatchObject({
    code: 'PLUGIN_KIND_UNKNOWN',
    message: `nowhere-at-all is in no node_modules (looked from ${folder}/node_modules upwards); run npm install nowhere-at-all`,
  });
  for (const name of ['../evil', '@a', 'a/b', '.hidden', '']) {
    await expect(npmKind(name, [folder])).rejects.toThrow(`${JSON.stringify(name)} is no name of an npm package`);
  }
  await install('closed', { exports: { './other': './x.js' } }, {});
  await expect(npmKind('closed', [folder])).rejects.toThrow(/exports no "\."$/);
  await put('node_modules/torn/package.json', '{');
  await expect(npmKind('torn', [folder])).rejects.toThrow(/package\.json is not JSON$/);
});
