import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { homedir, hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { openQuickClient, type QuickClient } from '@infrakit/bus';
import { compareUtf8 } from '@infrakit/core';
import type { CommandContext } from './command-context.ts';
import { type InstanceRow, instanceColumns, instanceRow } from './instance-row.ts';
import { tableLines } from './table.ts';

/** For a broker and a plugin that are well; the usual way has patience with others. */
const timeoutMs = 1_000;

interface Wanted {
  readonly name: string;
  readonly verb: 'ls' | 'describe';
  readonly isQuiet: boolean;
}

/** The lists that scripts ask for again and again: `local <object> ls|describe [-q]`, of the home's own broker. */
const wantedOf = ([host, name, verb, ...flags]: readonly string[]): Wanted | undefined => {
  if (host !== 'local' || name === undefined || (verb !== 'ls' && verb !== 'describe')) return undefined;
  if (!flags.every((flag) => flag === '-q' || flag === '--quiet')) return undefined;
  return { name, verb, isQuiet: flags.length > 0 };
};

interface OwnBroker {
  readonly socket: string;
  readonly prefix: string;
}

const ownBroker = async (env: CommandContext['env']): Promise<OwnBroker | undefined> => {
  if ((env.INFRAKIT_BROKER ?? '') !== '') return undefined;
  const home = env.INFRAKIT_HOME ? resolve(env.INFRAKIT_HOME) : join(homedir(), '.infrakit');
  const { socket, prefix } = JSON.parse(await readFile(join(home, 'broker.json'), 'utf8'));
  if (typeof socket !== 'string' || typeof prefix !== 'string') return undefined;
  return { socket, prefix: env.INFRAKIT_TOPIC_PREFIX || prefix };
};

const isText = (value: unknown): boolean => typeof value === 'string';

/** Checked by hand: zod alone takes longer than the whole command. */
const isRow = (value: unknown): value is InstanceRow => {
  if (typeof value !== 'object' || value === null) return false;
  const { ID, LogicalID, Tags } = value as Readonly<Record<string, unknown>>;
  if (!isText(ID) || !(LogicalID === null || isText(LogicalID))) return false;
  return Tags === null || (typeof Tags === 'object' && Object.values(Tags as object).every(isText));
};

const rowsOf = (list: unknown): readonly InstanceRow[] | undefined =>
  Array.isArray(list) && list.every(isRow) ? list : undefined;

const membersOf = async (client: QuickClient, name: string): Promise<readonly InstanceRow[] | undefined> => {
  const named = await client.find(name);
  if (!named.interfaces.has('Group')) return undefined;
  const target = named.proxyFor === undefined ? named : await client.find(named.proxyFor);
  const version = target.interfaces.get('Group');
  if (version === undefined || target.object === '' || target.object === 'groups') return undefined;
  const answer = await client.read(target, { name: 'Group.Members', version }, { name: target.object });
  const { kind, membership, members } = answer as Readonly<Record<string, unknown>>;
  const isKnown = (membership as { readonly kind?: unknown } | undefined)?.kind !== 'unknown';
  return kind === 'members' && isKnown ? rowsOf(members) : undefined;
};

const instancesOf = async (client: QuickClient, name: string): Promise<readonly InstanceRow[] | undefined> => {
  const target = await client.find(name);
  const version = target.interfaces.get('Instance');
  if (version === undefined || target.interfaces.has('Controller') || target.proxyFor !== undefined) return undefined;
  const params = { tags: {}, properties: true };
  const answer = await client.read(target, { name: 'Instance.Describe', version }, params);
  const { kind, instances } = answer as Readonly<Record<string, unknown>>;
  return kind === 'instances' ? rowsOf(instances) : undefined;
};

const quickClient = ({ socket, prefix }: OwnBroker): QuickClient =>
  openQuickClient({
    socketPath: socket,
    prefix,
    clientId: `cli-${randomUUID()}`,
    host: hostname(),
    nowMs: Date.now,
    after: (ms, run) => {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
    timeoutMs,
  });

/**
 * The lines of a list, if it is one of the usual ones and all is well; else nothing, and the usual way says what it is. Kept
 * apart from it because a command that polls must not cost more than starting Node (DESIGN §6).
 */
export const quickList = async (
  words: readonly string[],
  env: CommandContext['env'],
): Promise<readonly string[] | undefined> => {
  const wanted = wantedOf(words);
  if (wanted === undefined) return undefined;
  let client: QuickClient | undefined;
  try {
    const broker = await ownBroker(env);
    if (broker === undefined) return undefined;
    client = quickClient(broker);
    const found = await (wanted.verb === 'ls' ? membersOf(client, wanted.name) : instancesOf(client, wanted.name));
    if (found === undefined) return undefined;
    const rows = [...found].sort((left, right) => compareUtf8(left.ID, right.ID)).map(instanceRow);
    return tableLines(instanceColumns, rows, wanted.isQuiet);
  } catch {
    return undefined;
  } finally {
    client?.close();
  }
};
