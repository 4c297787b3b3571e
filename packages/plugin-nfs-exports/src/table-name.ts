import { execFile } from 'node:child_process';
import { realpath } from 'node:fs/promises';
import { isIP } from 'node:net';
import type { ExportProperties } from './export-properties.ts';

/** How `exportfs -s` lists exports, which is not always as the files have them. */
export interface TableNames {
  /** Whether an export is in the table: `<path> <client>` each. */
  readonly isListed: (properties: ExportProperties, exported: ReadonlySet<string>) => Promise<boolean>;
  /** Whether both are one export in the table. */
  readonly isSame: (left: ExportProperties, right: ExportProperties) => Promise<boolean>;
  /** Links and names may lead elsewhere by now. */
  readonly forget: () => void;
}

const lookupMs = 10_000;

/** A path as `exportfs -s` writes it: blanks as `\040`. */
const tablePath = (path: string): string =>
  path.replace(/[\s\\]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`);

const tableName = (path: string, client: string): string => `${tablePath(path)} ${client}`;

const isName = (client: string): boolean => isIP(client) === 0 && !/[*?@/]/.test(client);

/** The name that the resolver of the machine has for an alias, as exportfs asks for it; the alias itself when it has none. */
const canonicalName = (name: string): Promise<string> =>
  new Promise((resolve) => {
    execFile('getent', ['ahosts', '--', name], { timeout: lookupMs, killSignal: 'SIGKILL' }, (error, stdout) => {
      const [, , canonical] = stdout.split('\n', 1)[0]?.split(/\s+/) ?? [];
      resolve(error !== null || canonical === undefined || canonical === '' ? name : canonical);
    });
  });

/** exportfs follows links in a path, and lists a host by the resolver's name of it. */
export const tableNames = (): TableNames => {
  const paths = new Map<string, Promise<string>>();
  const clients = new Map<string, Promise<string>>();
  const known = (kept: Map<string, Promise<string>>, key: string, look: () => Promise<string>): Promise<string> => {
    const found = kept.get(key) ?? look();
    kept.set(key, found);
    return found;
  };
  // A folder that is not there is listed as it was asked for.
  const pathOf = (path: string): Promise<string> => known(paths, path, () => realpath(path).catch(() => path));
  const clientOf = (client: string): Promise<string> =>
    isName(client) ? known(clients, client, () => canonicalName(client)) : Promise.resolve(client);
  return {
    isListed: async ({ Path, Client }, exported) => {
      if (exported.has(tableName(Path, Client))) return true;
      const path = await pathOf(Path);
      return exported.has(tableName(path, Client)) || exported.has(tableName(path, await clientOf(Client)));
    },
    isSame: async (left, right) =>
      left.Client.toLowerCase() === right.Client.toLowerCase() &&
      (left.Path === right.Path || (await pathOf(left.Path)) === (await pathOf(right.Path))),
    forget: () => {
      paths.clear();
      clients.clear();
    },
  };
};
