import { isIP } from 'node:net';
import { parseProperties } from '@infrakit/document';
import { z } from 'zod';

/** Options of exports(5) that are words of their own. */
const words = [
  'ro',
  'rw',
  'sync',
  'async',
  'secure',
  'insecure',
  'wdelay',
  'no_wdelay',
  'hide',
  'nohide',
  'crossmnt',
  'subtree_check',
  'no_subtree_check',
  'insecure_locks',
  'secure_locks',
  'auth_nlm',
  'no_auth_nlm',
  'acl',
  'no_acl',
  'root_squash',
  'no_root_squash',
  'all_squash',
  'no_all_squash',
  'security_label',
  'pnfs',
  'no_pnfs',
];

/** Options of exports(5) with a value, and what the value looks like. */
const valued: Readonly<Record<string, RegExp>> = {
  anonuid: /^-?\d+$/,
  anongid: /^-?\d+$/,
  fsid: /^(root|\d+|[0-9a-fA-F-]{32,36})$/,
  sec: /^[a-z0-9:]+$/,
  mountpoint: /^\/\S*$/,
};

const isOption = (text: string): boolean => {
  if (words.includes(text)) return true;
  const equals = text.indexOf('=');
  return equals > 0 && valued[text.slice(0, equals)]?.test(text.slice(equals + 1)) === true;
};

const isNetwork = (text: string): boolean => {
  const [address = '', bits, ...rest] = text.split('/');
  if (bits === undefined || rest.length > 0) return false;
  const version = isIP(address);
  if (version === 4 && isIP(bits) === 4) return true;
  return version !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128);
};

const isHostName = (text: string): boolean =>
  /^(?=.{1,253}$)[A-Za-z0-9*?]([A-Za-z0-9*?-]*[A-Za-z0-9*?])?(\.[A-Za-z0-9*?]([A-Za-z0-9*?-]*[A-Za-z0-9*?])?)*$/.test(
    text,
  );

const isClient = (text: string): boolean =>
  isIP(text) !== 0 || isNetwork(text) || isHostName(text) || /^@[A-Za-z0-9_.-]+$/.test(text);

// A quote or a line break would end the field in the exports file.
const isPath = (text: string): boolean =>
  text.startsWith('/') &&
  ![...text].some((char) => char === '"' || char === '\\' || char < ' ') &&
  !text.split('/').includes('..');

/** One export: a folder, who may mount it, and how (exports(5)). */
export const ExportProperties = z.strictObject({
  Path: z
    .string()
    .refine(isPath, { error: 'must be an absolute path without "..", quotes, backslashes or control characters' })
    .describe('The folder that is exported; it must be there.'),
  Client: z
    .string()
    .refine(isClient, { error: 'must be an address, a network, a host name (* and ? allowed) or @netgroup' })
    .describe('Who may mount it: an address, a network, a host name (`*` and `?` allowed) or `@netgroup`.'),
  Options: z
    .array(z.string().refine(isOption, { error: 'is no option of exports(5)' }))
    .default(['rw', 'no_subtree_check'])
    .describe('As in exports(5).'),
});
export type ExportProperties = z.infer<typeof ExportProperties>;

/** The properties of an export; `INSTANCE_INVALID` names every fault at once. */
export const parseExport = (properties: unknown): ExportProperties =>
  parseProperties('INSTANCE_INVALID', ExportProperties, properties);

/** The line of an export in the form of exports(5). */
export const exportLine = ({ Path, Client, Options }: ExportProperties): string =>
  `${/\s|#/.test(Path) ? `"${Path}"` : Path} ${Client}(${Options.join(',')})`;
