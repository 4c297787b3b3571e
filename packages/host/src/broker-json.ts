import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type BrokerAddress, parseBrokerUrl } from '@infrakit/core';
import type { After } from '@infrakit/spi';
import { z } from 'zod';

/** The broker of a home, as its `broker.json` says (DESIGN §3): how the command line and further processes find it. */
export const BrokerRecord = z.strictObject({
  kind: z.enum(['embedded', 'external']),
  /** As in `INFRAKIT_BROKER`; null for an embedded one without TCP. */
  url: z.string().min(1).nullable(),
  /** The UNIX socket, which may do everything; null for an external one. */
  socket: z.string().min(1).nullable(),
  /** Who wrote this. */
  pid: z.number().int().positive(),
  prefix: z.string().min(1),
});
export type BrokerRecord = z.infer<typeof BrokerRecord>;

const fileOf = (home: string): string => join(home, 'broker.json');

/** What `broker.json` says; undefined when there is none, or nothing that makes sense. */
export const readBrokerRecord = async (home: string): Promise<BrokerRecord | undefined> => {
  try {
    const parsed = BrokerRecord.safeParse(JSON.parse(await readFile(fileOf(home), 'utf8')));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
};

/** Writes it atomically, readable by its owner only: the address may hold a password. */
export const writeBrokerRecord = async (home: string, record: BrokerRecord): Promise<void> => {
  const fresh = `${fileOf(home)}.${record.pid}`;
  await writeFile(fresh, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  await rename(fresh, fileOf(home));
};

/** Removes it if this process wrote it. */
export const removeBrokerRecord = async (home: string, pid: number): Promise<void> => {
  if ((await readBrokerRecord(home))?.pid === pid) await rm(fileOf(home), { force: true });
};

/** How to reach a recorded broker: by its socket where it has one. Errors: `BUS_URL_INVALID`. */
export const addressOfRecord = ({ url, socket }: BrokerRecord): BrokerAddress =>
  socket === null ? parseBrokerUrl(url ?? '') : { kind: 'unix', path: socket };

type Endpoint = { readonly path: string } | { readonly host: string; readonly port: number };

const endpointOf = (address: BrokerAddress): Endpoint => {
  if (address.kind === 'unix') return { path: address.path };
  if (address.kind === 'tcp' || address.kind === 'tls') return { host: address.host, port: address.port };
  const { hostname, port } = new URL(address.url);
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port) || (address.kind === 'wss' ? 443 : 80) };
};

const probeTimeoutMs = 1_000;

/** Whether anything accepts connections at an address, within a second (GP-D2, GP-D3). */
export const isListening = (address: BrokerAddress, after: After): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(endpointOf(address));
    const settle = (answer: boolean): void => {
      stopTimer();
      socket.destroy();
      resolve(answer);
    };
    const stopTimer = after(probeTimeoutMs, () => settle(false));
    socket.on('connect', () => settle(true));
    socket.on('error', () => settle(false));
  });

/** The record of a home's broker if that is alive; a stale one counts as none. */
export const findLiveBroker = async (home: string, after: After): Promise<BrokerRecord | undefined> => {
  const record = await readBrokerRecord(home);
  if (record === undefined) return undefined;
  try {
    return (await isListening(addressOfRecord(record), after)) ? record : undefined;
  } catch {
    return undefined;
  }
};
