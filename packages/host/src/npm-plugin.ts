import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AppError } from '@infrakit/core';
import type { PluginDefinition } from '@infrakit/spi';
import type { BuiltInKind } from './definitions.ts';

/** What a plugin argument that names a package begins with: `npm:<package>[:name]`. */
export const npmPrefix = 'npm:';

type Fields = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const unknownKind = (name: string, why: string, cause?: unknown): AppError =>
  new AppError('PLUGIN_KIND_UNKNOWN', `${name} ${why}`, { facts: { package: name }, cause });

/** The file that an entry of `exports` leads to for an `import` by Node. */
const exportedFile = (target: unknown): string | undefined => {
  if (typeof target === 'string') return target;
  if (!isRecord(target)) return undefined;
  if ('.' in target) return exportedFile(target['.']);
  for (const [condition, next] of Object.entries(target)) {
    if (!['node', 'import', 'default'].includes(condition)) continue;
    const found = exportedFile(next);
    if (found !== undefined) return found;
  }
  return undefined;
};

const manifestOf = async (folder: string, name: string): Promise<Fields | undefined> => {
  const path = join(folder, 'package.json');
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const json: unknown = JSON.parse(text);
    if (isRecord(json)) return json;
  } catch (cause) {
    throw unknownKind(name, `cannot be loaded: ${path} is not JSON`, cause);
  }
  throw unknownKind(name, `cannot be loaded: ${path} is no object`);
};

/** A folder and all above it. */
const upwards = (folder: string): string[] => {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...upwards(above)];
};

/** The file that a package is imported by, from the first `node_modules` that has it. */
const findEntry = async (name: string, folders: readonly string[]): Promise<string> => {
  for (const place of folders.flatMap((folder) => upwards(resolve(folder)))) {
    const folder = join(place, 'node_modules', ...name.split('/'));
    const manifest = await manifestOf(folder, name);
    if (manifest === undefined) continue;
    const { exports, main } = manifest;
    const file = exports === undefined ? (typeof main === 'string' ? main : 'index.js') : exportedFile(exports);
    if (file === undefined)
      throw unknownKind(name, `cannot be imported: ${join(folder, 'package.json')} exports no "."`);
    return join(folder, file);
  }
  const places = folders.map((folder) => join(folder, 'node_modules')).join(' and ');
  throw unknownKind(name, `is in no node_modules (looked from ${places} upwards); run npm install ${name}`);
};

/** Why a value is no {@link PluginDefinition}, in a clause; checked by hand, for it comes from anybody. */
const faultOf = (value: unknown): string | undefined => {
  if (!isRecord(value)) return 'exports no definition, neither by default nor as `definition`';
  const { kind, summary, isSingle, options, environment, start, aliases } = value;
  if (typeof kind !== 'string' || !/^[^/:=\s]+$/.test(kind))
    return 'must give its `kind`, a text without "/", ":", "=" and blanks';
  if (typeof summary !== 'string') return 'must give its `summary`, a text';
  if (typeof isSingle !== 'boolean') return 'must say `isSingle`, true or false';
  if (!isRecord(options) || typeof options.safeParse !== 'function') return 'must give its `options`, a zod schema';
  if (typeof start !== 'function') return 'must give `start`, a function';
  if (aliases !== undefined && !(Array.isArray(aliases) && aliases.every((each) => typeof each === 'string'))) {
    return 'must give `aliases` as a list of texts, or not at all';
  }
  const isEnvironment = isRecord(environment) && Object.values(environment).every((each) => typeof each === 'function');
  if (environment !== undefined && !isEnvironment) {
    return 'must give `environment` as functions by the names of variables, or not at all';
  }
  return undefined;
};

/**
 * The plugin of an npm package: its default export, or what it exports as `definition`, looked for in `node_modules` from each
 * of the folders upwards. Errors: `PLUGIN_KIND_UNKNOWN` in one sentence.
 */
export const npmKind = async (name: string, folders: readonly string[]): Promise<BuiltInKind> => {
  if (!/^(?:@[\w.-]+\/)?[\w-][\w.-]*$/.test(name))
    throw unknownKind(JSON.stringify(name), 'is no name of an npm package');
  const entry = await findEntry(name, folders);
  const loaded = await import(pathToFileURL(entry).href).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw unknownKind(name, `cannot be imported: ${why.split('\n')[0]}`, cause);
  });
  const candidate: unknown = loaded.default ?? loaded.definition;
  // What CommonJS exports by the name `default` arrives one level deeper.
  const inner =
    isRecord(candidate) && candidate.start === undefined ? (candidate.default ?? candidate.definition) : undefined;
  const definition = inner ?? candidate;
  const fault = faultOf(definition);
  if (fault !== undefined) throw unknownKind(name, `is no plugin: it ${fault}`);
  const checked = definition as PluginDefinition;
  return { kind: checked.kind, aliases: checked.aliases ?? [], eventQos: 1, load: async () => checked };
};
