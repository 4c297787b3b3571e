import { cyclesOf } from './cycles.ts';
import { type Import, importsOf } from './imports.ts';
import { dependenciesOf, packageProblems, topLevelProblems } from './package-rules.ts';
import { packageName, packageRule } from './packages.ts';
import { type Home, importProblem, target, wordProblems } from './source-rules.ts';
import { folderOf, isCode, isTest, packageFolders, type Tree } from './tree.ts';

const maxLines = 400;

const homesOf = (tree: Tree): Map<string, Home> => {
  const folders = packageFolders(tree);
  const names = new Map(folders.map((folder) => [packageName(folder), folder]));
  const testDependencies = new Set(dependenciesOf(tree, '', ['devDependencies']));
  return new Map(
    folders.flatMap((folder) => {
      const rule = packageRule(folder, folders);
      if (rule === undefined) return [];
      const dependencies = new Set(
        dependenciesOf(tree, folder, [
          'dependencies',
          'optionalDependencies',
          'peerDependencies',
          ...(rule.isBundled === true ? (['devDependencies'] as const) : []),
        ]),
      );
      return [[folder, { folder, rule, dependencies, testDependencies, folders: names }]];
    }),
  );
};

const lengthProblems = (path: string, source: string): string[] => {
  const lines = source.replace(/\n$/, '').split('\n').length;
  return lines > maxLines ? [`${path}: ${lines} lines, at most ${maxLines}`] : [];
};

/** Files under test/ are of no package: they import packages by name, like anybody. */
const testImportProblem = (path: string, { specifier }: Import): string | undefined => {
  if (specifier?.startsWith('.') && target(path, specifier).startsWith('packages/')) {
    return 'tests import packages by their names';
  }
  return /^@infrakit\/[^/]+\/./.test(specifier ?? '')
    ? 'imports across packages use the root export, no deep paths'
    : undefined;
};

const cycleProblems = (imports: ReadonlyMap<string, readonly Import[]>): string[] => {
  const targets = (path: string, items: readonly Import[]): string[] =>
    items.flatMap(({ specifier }) => (specifier?.startsWith('.') ? [target(path, specifier)] : []));
  const graph = new Map([...imports].map(([path, items]) => [path, targets(path, items)]));
  return cyclesOf(graph).map((cycle) => {
    const [from = '', to = ''] = cycle.slice(-2);
    const closing = imports
      .get(from)
      ?.find(({ specifier }) => specifier?.startsWith('.') && target(from, specifier) === to);
    return `${from}:${closing?.line}: ${closing?.text} (a cycle: ${cycle.join(' → ')})`;
  });
};

/** Every breach of DESIGN §2 in a repository, as `file:line: what stands there (why not)`; none is an empty list. */
export const checkArchitecture = (tree: Tree): string[] => {
  const homes = homesOf(tree);
  const problems = [...topLevelProblems(tree), ...packageProblems(tree)];
  const imports = new Map<string, Import[]>();
  for (const [path, source] of tree.files) {
    if (!isCode(path)) continue;
    problems.push(...lengthProblems(path, source));
    const items = importsOf(source);
    imports.set(path, items);
    const folder = folderOf(path);
    const home = homes.get(folder ?? '');
    if (folder !== undefined && home === undefined)
      problems.push(`${path}: in no package with a package.json and a rule`);
    for (const item of items) {
      const why = home === undefined ? isTest(path) && testImportProblem(path, item) : importProblem(path, item, home);
      if (why) problems.push(`${path}:${item.line}: ${item.text} (${why})`);
    }
    if (home !== undefined) {
      for (const { line, text, why } of wordProblems(path, source, home))
        problems.push(`${path}:${line}: ${text} (${why})`);
    }
  }
  return [...problems, ...cycleProblems(imports)];
};
