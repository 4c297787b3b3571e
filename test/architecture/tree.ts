import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A repository in memory: the names at its top level, and the text of each file that a rule reads, by its path from there. */
export interface Tree {
  readonly topLevel: readonly string[];
  readonly files: ReadonlyMap<string, string>;
}

const generated = new Set(['node_modules', 'dist', 'coverage', '.git']);
const isRead = (name: string): boolean =>
  /\.(?:ts|mts|js|mjs)$/.test(name) || /^(?:package|tsconfig)\.json$/.test(name);

/** Reads the repository under `root`, without what git ignores. */
export const readTree = (root: string): Tree => {
  const files = new Map<string, string>();
  const walk = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory() && !generated.has(entry.name) && entry.name !== 'fixtures') walk(path);
      else if (entry.isFile() && isRead(entry.name)) files.set(path, readFileSync(join(root, path), 'utf8'));
    }
  };
  for (const folder of ['packages', 'test']) walk(folder);
  for (const name of ['package.json', 'tsconfig.json']) files.set(name, readFileSync(join(root, name), 'utf8'));
  const topLevel = readdirSync(root).filter((name) => !generated.has(name) && !name.endsWith('.tgz'));
  return { topLevel, files };
};

/** The folder under `packages/` that a path belongs to. */
export const folderOf = (path: string): string | undefined => /^packages\/([^/]+)\//.exec(path)?.[1];

/** The package folders of a tree, sorted: those with a `package.json`. */
export const packageFolders = (tree: Tree): string[] =>
  [...tree.files.keys()].flatMap((path) => /^packages\/([^/]+)\/package\.json$/.exec(path)?.[1] ?? []).sort();

export const isTest = (path: string): boolean => path.startsWith('test/') || /\.test\.ts$/.test(path);

export const isCode = (path: string): boolean => /\.(?:ts|mts|js|mjs)$/.test(path);
