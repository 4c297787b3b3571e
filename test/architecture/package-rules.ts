import { cyclesOf, type Graph } from './cycles.ts';
import { packageName, packageRule } from './packages.ts';
import { packageFolders, type Tree } from './tree.ts';

const sections = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'] as const;

/** The parts of a package.json that rules read. */
type Manifest = { readonly name?: string } & {
  readonly [section in (typeof sections)[number]]?: Record<string, string>;
};

const manifestOf = (tree: Tree, folder: string): Manifest =>
  JSON.parse(tree.files.get(folder === '' ? 'package.json' : `packages/${folder}/package.json`) ?? '{}');

/** Names that a package's package.json gives in the sections named, all of them by default. */
export const dependenciesOf = (
  tree: Tree,
  folder: string,
  from: readonly (typeof sections)[number][] = sections,
): string[] => {
  const manifest = manifestOf(tree, folder);
  return from.flatMap((section) => Object.keys(manifest[section] ?? {}));
};

const referencesOf = (tree: Tree, path: string): string[] => {
  const config: { references?: { path: string }[] } = JSON.parse(tree.files.get(path) ?? '{}');
  return (config.references ?? []).map((reference) => reference.path);
};

const difference = (a: readonly string[], b: readonly string[]): string[] => a.filter((item) => !b.includes(item));

const topLevel = new Set([
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'packages',
  'docker-compose.yml',
  'test',
  'README.md',
  'LICENSE',
]);

/** The top level holds a fixed set of entries, dot files aside. */
export const topLevelProblems = (tree: Tree): string[] =>
  tree.topLevel
    .filter((name) => !topLevel.has(name) && !name.startsWith('.'))
    .map((name) => `${name}: not expected at the top level`);

/** Every package has a rule, its own name, and TypeScript references that are its dependencies; none depends on itself in a circle. */
export const packageProblems = (tree: Tree): string[] => {
  const folders = packageFolders(tree);
  const names = new Map(folders.map((folder) => [packageName(folder), folder]));
  const graph: Graph = new Map(
    folders.map((folder) => [folder, dependenciesOf(tree, folder).flatMap((name) => names.get(name) ?? [])]),
  );
  const problems: string[] = [];
  for (const folder of folders) {
    const path = `packages/${folder}`;
    const rule = packageRule(folder, folders);
    if (rule === undefined) problems.push(`${path}: unknown package, give it a row in test/architecture/packages.ts`);
    const name = packageName(folder);
    if (manifestOf(tree, folder).name !== name) problems.push(`${path}/package.json: its name must be ${name}`);
    const wanted = graph.get(folder) ?? [];
    for (const other of difference(wanted, rule?.mayImport ?? wanted)) {
      problems.push(`${path}/package.json: ${folder} may not depend on ${packageName(other)}`);
    }
    const references = referencesOf(tree, `${path}/tsconfig.json`).map((reference) => reference.replace(/^\.\.\//, ''));
    for (const other of difference(wanted, references)) {
      problems.push(`${path}/tsconfig.json: no reference to ../${other}, which package.json depends on`);
    }
    for (const other of difference(references, wanted)) {
      problems.push(`${path}/tsconfig.json: a reference to ../${other}, which package.json does not depend on`);
    }
  }
  const wanted = [...folders.map((folder) => `packages/${folder}`), 'test'];
  const references = referencesOf(tree, 'tsconfig.json');
  for (const path of difference(wanted, references)) problems.push(`tsconfig.json: no reference to ${path}`);
  for (const path of difference(references, wanted))
    problems.push(`tsconfig.json: a reference to ${path}, which is no package`);
  for (const cycle of cyclesOf(graph)) problems.push(`packages: a cycle ${cycle.map(packageName).join(' → ')}`);
  return problems;
};
