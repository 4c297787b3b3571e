import { isBuiltin } from 'node:module';
import { posix } from 'node:path';
import { type Import, lineAt } from './imports.ts';
import { mask } from './mask.ts';
import { type PackageRule, packageName } from './packages.ts';
import { isTest } from './tree.ts';

/** What the rules need to know of the package that a file is in. */
export interface Home {
  readonly folder: string;
  readonly rule: PackageRule;
  /** Names in `dependencies` of its package.json. */
  readonly dependencies: ReadonlySet<string>;
  /** Names that its tests may import as well: the workspace's devDependencies. */
  readonly testDependencies: ReadonlySet<string>;
  /** npm name → folder, of every package. */
  readonly folders: ReadonlyMap<string, string>;
}

/** `a` of `a/b`, `@a/b` of `@a/b/c`. */
const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

/** Where a relative import of `file` leads. */
export const target = (file: string, specifier: string): string => posix.join(posix.dirname(file), specifier);

const noEnvironment = 'only cli and host/main read argv and the environment';
const mqttPackages = new Set(['mqtt', 'mqtt-packet', 'aedes']);

const importOfWorkspace = (specifier: string, folder: string, home: Home): string | undefined => {
  if (folder === home.folder) return 'a package imports its own files by relative paths';
  if (specifier !== packageName(folder)) return 'imports across packages use the root export, no deep paths';
  if (home.rule.mayImport.includes(folder)) return undefined;
  const allowed = home.rule.mayImport.map(packageName).join(', ') || 'no other package';
  return `${home.folder} may import ${allowed}`;
};

const importOfBuiltin = (item: Import, home: Home, isRoot: boolean, test: boolean): string | undefined => {
  if (test) return undefined;
  const isProcess = /^(?:node:)?process$/.test(item.specifier ?? '');
  if (isProcess && !isRoot && /\b(?:argv|env)\b/.test(item.clause)) return noEnvironment;
  if (home.rule.pureWith === undefined) return undefined;
  const isHash = /^(?:node:)?crypto$/.test(item.specifier ?? '') && /^\{\s*createHash\s*,?\s*\}$/.test(item.clause);
  return isHash ? undefined : `${home.folder} is pure: of node:* only { createHash } of node:crypto`;
};

const importOfOthers = (item: Import, name: string, home: Home, isRoot: boolean, test: boolean): string | undefined => {
  const { rule, folder } = home;
  if (test && home.testDependencies.has(name)) return undefined;
  if (!home.dependencies.has(name)) return `${name} is not in the dependencies of packages/${folder}/package.json`;
  if (rule.pureWith !== undefined && !rule.pureWith.includes(name)) {
    return `${folder} is pure: of other packages only ${rule.pureWith.join(', ')}`;
  }
  if (mqttPackages.has(name) && rule.mqtt !== true) return `${folder} knows nothing of MQTT`;
  if (name === 'pino' && !item.isTypeOnly && !isRoot && !test) {
    return 'no default logger: take one as an argument, only cli and host/main construct it';
  }
  return undefined;
};

/** Why a file of a package may not have this import, or undefined. */
export const importProblem = (file: string, item: Import, home: Home): string | undefined => {
  const test = isTest(file);
  const isRoot = home.rule.isRoot?.(file) ?? false;
  const { specifier } = item;
  if (specifier === undefined) {
    return home.folder === 'host' || isRoot || test ? undefined : 'only host loads modules by a computed name';
  }
  if (specifier.startsWith('.')) {
    const to = target(file, specifier);
    if (test && to.startsWith('test/')) return undefined;
    return to.startsWith(`packages/${home.folder}/`) ? undefined : 'a relative import stays inside its package';
  }
  if (isBuiltin(specifier)) return importOfBuiltin(item, home, isRoot, test);
  const name = packageOf(specifier);
  const folder =
    home.folders.get(name) ?? (name.startsWith('@infrakit/') ? name.slice('@infrakit/'.length) : undefined);
  if (folder !== undefined) return importOfWorkspace(specifier, folder, home);
  return importOfOthers(item, name, home, isRoot, test);
};

interface Word {
  readonly pattern: RegExp;
  readonly why: string;
}

const free = (expression: string): RegExp => new RegExp(`(?<![\\w$.])(?:globalThis\\s*\\.\\s*)?${expression}`, 'g');

const impure: readonly Word[] = [
  {
    pattern: free('(?:Date\\s*\\.\\s*now\\b|(?:new\\s+)?Date\\s*\\(\\s*\\)|new\\s+Date\\s*(?=[;,)]))'),
    why: 'no clock: time is an argument',
  },
  { pattern: free('performance\\s*[.[]'), why: 'no clock: time is an argument' },
  { pattern: free('set(?:Timeout|Interval|Immediate)\\b'), why: 'no timers' },
  { pattern: free('Math\\s*\\.\\s*random\\b'), why: 'no random: ids are arguments' },
  { pattern: free('crypto\\s*[.[]'), why: 'no random: ids are arguments' },
  { pattern: free('process\\s*[.[]'), why: 'no process' },
  { pattern: free('fetch\\s*\\('), why: 'no I/O' },
  { pattern: /(?<![\w$.])globalThis\b/g, why: 'no globals' },
];
const logger: Word = { pattern: free('console\\s*[.[]'), why: 'no default logger: take one as an argument' };
const environment: readonly Word[] = [
  { pattern: free('process\\s*(?:\\.\\s*(?:argv|env)\\b|\\[)'), why: noEnvironment },
  { pattern: free('\\{[^{}]*\\b(?:argv|env)\\b[^{}]*\\}\\s*=\\s*process\\b'), why: noEnvironment },
];
const moduleState: Word = { pattern: /^(?:export\s+)?(?:let|var)\b.*/gm, why: 'no globals: state lives in closures' };

/** Uses of what the file's package may not touch, as line, text and reason. Tests may touch anything. */
export const wordProblems = (
  file: string,
  source: string,
  { rule, folder }: Home,
): { line: number; text: string; why: string }[] => {
  if (isTest(file)) return [];
  const isRoot = rule.isRoot?.(file) ?? false;
  const words = [
    moduleState,
    ...(rule.pureWith === undefined ? [] : impure.map((word) => ({ ...word, why: `${folder} is pure: ${word.why}` }))),
    ...(isRoot ? [] : [logger, ...environment]),
  ];
  const code = mask(source);
  return words.flatMap(({ pattern, why }) =>
    [...code.matchAll(pattern)].map((match) => {
      const text = source.slice(match.index, match.index + match[0].length).replace(/\s+/g, ' ');
      return { line: lineAt(source, match.index), text, why };
    }),
  );
};
