import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrokerTls, type EmbeddedBroker, loadUsers, shortSocketPath, startEmbeddedBroker } from '@infrakit/bus';
import { AppError } from '@infrakit/core';
import { removeBrokerRecord, writeBrokerRecord } from './broker-json.ts';
import type { BrokerDeps, BrokerOptions, ChosenBroker } from './broker-options.ts';
import type { Home } from './home.ts';
import { fallbackPrefix } from './settings.ts';

/** What aedes speaks. */
export const embeddedVersion = { version: '3.1.1' } as const;

const readServerTls = async (files: { readonly cert: string; readonly key: string }): Promise<BrokerTls> => {
  const read = async (variable: string, path: string): Promise<Buffer> => {
    try {
      return await readFile(path);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new AppError('BROKER_INVALID', `${variable}: ${why}`, { facts: { path }, cause });
    }
  };
  return { cert: await read('INFRAKIT_TLS_CERT', files.cert), key: await read('INFRAKIT_TLS_KEY', files.key) };
};

const startEmbedded = async (
  { listen, usersFile, tls, home }: BrokerOptions,
  { socketPath, prefix }: { readonly socketPath: string; readonly prefix: string },
  { log, after, nowMs }: BrokerDeps,
): Promise<EmbeddedBroker> =>
  startEmbeddedBroker(
    {
      listen,
      socketPath,
      prefix,
      ...(home === null ? {} : { persistenceDir: home.broker }),
      ...(usersFile === undefined ? {} : { users: await loadUsers(usersFile, { log }) }),
      ...(tls === undefined ? {} : { tls: await readServerTls(tls) }),
    },
    { log, after, now: nowMs },
  );

/**
 * Starts the embedded broker of a home whose lock is held, and says where it is. Errors: `BUS_UNAVAILABLE` for a taken port,
 * `BROKER_INVALID`.
 */
export const ownBroker = async (home: Home, options: BrokerOptions, deps: BrokerDeps): Promise<ChosenBroker> => {
  const { pid, prefix = fallbackPrefix } = options;
  const socketPath = shortSocketPath(join(home.path, 'broker.sock'));
  const broker = await startEmbedded(options, { socketPath, prefix }, deps);
  try {
    const url = broker.address ?? null;
    await writeBrokerRecord(home.path, { kind: 'embedded', url, socket: socketPath, pid, prefix });
    return {
      kind: 'embedded',
      address: { kind: 'unix', path: socketPath },
      tls: {},
      ...embeddedVersion,
      url,
      prefix,
      inProcess: broker,
      stop: async () => {
        await removeBrokerRecord(home.path, pid);
        await broker.stop();
      },
    };
  } catch (error) {
    await broker.stop();
    throw error;
  }
};

/** An embedded broker that nobody finds and that keeps nothing. */
export const homelessBroker = async (options: BrokerOptions, deps: BrokerDeps): Promise<ChosenBroker> => {
  const { prefix = fallbackPrefix } = options;
  const folder = await mkdtemp(join(tmpdir(), 'infrakit-'));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const socketPath = shortSocketPath(join(folder, 'broker.sock'));
    const broker = await startEmbedded(options, { socketPath, prefix }, deps);
    const stop = async (): Promise<void> => {
      await broker.stop();
      await remove();
    };
    return {
      kind: 'embedded',
      address: { kind: 'unix', path: socketPath },
      tls: {},
      ...embeddedVersion,
      url: broker.address ?? null,
      prefix,
      inProcess: broker,
      stop,
    };
  } catch (error) {
    await remove();
    throw error;
  }
};
