import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type BrokerTls,
  type EmbeddedBroker,
  isLoopback,
  type ListenAddress,
  loadUsers,
  type MqttVersion,
  shortSocketPath,
  startEmbeddedBroker,
  type TlsMaterial,
} from '@infrakit/bus';
import { AppError, type BrokerAddress, describeBroker, parseBrokerUrl } from '@infrakit/core';
import { tryLock } from '@infrakit/manager';
import type { Log } from '@infrakit/spi';
import {
  addressOfRecord,
  type BrokerRecord,
  findLiveBroker,
  removeBrokerRecord,
  writeBrokerRecord,
} from './broker-json.ts';
import type { Home } from './home.ts';
import { type ExternalBroker, fallbackPrefix } from './settings.ts';
import { readTls } from './tls-files.ts';
import { untilFound, type WaitDeps } from './waiting.ts';

/** Which broker a host is to use. */
export interface BrokerOptions {
  readonly home: Home | null;
  /** One that is there already; else the home's live one is joined, else an embedded one is started. */
  readonly external: ExternalBroker | undefined;
  readonly listen: ListenAddress;
  readonly prefix: string | undefined;
  readonly usersFile: string | undefined;
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  readonly timeoutMs: number;
  readonly pid: number;
}

export interface BrokerDeps extends WaitDeps {
  readonly log: Log;
}

/** The broker that a host uses. */
export interface ChosenBroker {
  readonly kind: 'embedded' | 'joined' | 'external';
  readonly address: BrokerAddress;
  readonly tls: TlsMaterial;
  /** Only this version of MQTT, where it is known what the broker speaks. */
  readonly version?: MqttVersion;
  /** For people and other clients: `mqtt://127.0.0.1:1883`; null when it has no such address. */
  readonly url: string | null;
  readonly prefix: string;
  /** Ends what was started for it. `isLast`: no other process is on the bus. */
  readonly stop: (isLast: boolean) => Promise<void>;
}

const joinEveryMs = 50;
/** What aedes speaks. */
const embeddedVersion = { version: '3.1.1' } as const;

const isAnonymous = (address: BrokerAddress): boolean => {
  if (address.kind === 'unix' || address.username !== undefined) return false;
  if ((address.kind === 'tls' || address.kind === 'wss') && address.files.cert !== undefined) return false;
  return !isLoopback('host' in address ? address.host : new URL(address.url).hostname);
};

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

const external = async (
  { url, address }: ExternalBroker,
  options: BrokerOptions,
  deps: BrokerDeps,
): Promise<ChosenBroker> => {
  const { home, pid, prefix = fallbackPrefix } = options;
  const broker = describeBroker(address);
  if (isAnonymous(address)) {
    deps.log.warn({ broker }, 'this broker is beyond this machine and lets anybody in: anybody may command this stack');
  }
  const tls = await readTls(address);
  if (home !== null) {
    const known = await findLiveBroker(home.path, deps.after);
    if (known?.kind === 'embedded') {
      deps.log.warn({ broker, home: home.path }, 'this home has an embedded broker of its own, which stays recorded');
    } else await writeBrokerRecord(home.path, { kind: 'external', url, socket: null, pid, prefix });
  }
  return {
    kind: 'external',
    address,
    tls,
    url: broker,
    prefix,
    stop: async (isLast) => {
      if (home !== null && isLast) await removeBrokerRecord(home.path, pid);
    },
  };
};

const joined = async (record: BrokerRecord, options: BrokerOptions, deps: BrokerDeps): Promise<ChosenBroker> => {
  const address = addressOfRecord(record);
  deps.log.info({ broker: describeBroker(address), pid: record.pid }, 'joining the broker of this home');
  return {
    kind: 'joined',
    address,
    tls: await readTls(address),
    ...(record.kind === 'embedded' ? embeddedVersion : {}),
    url: record.url === null ? null : describeBroker(parseBrokerUrl(record.url)),
    prefix: options.prefix ?? record.prefix,
    stop: async () => undefined,
  };
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

/** Starts the embedded broker of a home whose lock is held, and says where it is. */
const embedded = async (home: Home, options: BrokerOptions, deps: BrokerDeps): Promise<ChosenBroker> => {
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
const homeless = async (options: BrokerOptions, deps: BrokerDeps): Promise<ChosenBroker> => {
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
      stop,
    };
  } catch (error) {
    await remove();
    throw error;
  }
};

/**
 * The broker of a home: its live one, else a new one, which whoever holds the lock starts: of processes that start at the same
 * moment exactly one does, the others join it (DESIGN §3).
 */
const ofHome = async (home: Home, options: BrokerOptions, deps: BrokerDeps): Promise<ChosenBroker> => {
  const attempt = async (): Promise<ChosenBroker | undefined> => {
    const live = await findLiveBroker(home.path, deps.after);
    if (live !== undefined) return joined(live, options, deps);
    const lock = await tryLock(join(home.locks, 'broker'));
    if (lock === null) return undefined;
    try {
      // Somebody may have started an external one's record, or ended, between the look and the lock.
      const again = await findLiveBroker(home.path, deps.after);
      if (again !== undefined) {
        await lock.release();
        return joined(again, options, deps);
      }
      const broker = await embedded(home, options, deps);
      return {
        ...broker,
        stop: async (isLast) => {
          await broker.stop(isLast);
          await lock.release();
        },
      };
    } catch (error) {
      await lock.release();
      throw error;
    }
  };
  const found = await untilFound(attempt, { everyMs: joinEveryMs, timeoutMs: options.timeoutMs }, deps);
  if (found !== undefined) return found;
  throw new AppError(
    'BUS_UNAVAILABLE',
    `another process holds the broker of ${home.path} but its broker did not answer within ${options.timeoutMs} ms`,
    { facts: { home: home.path } },
  );
};

/**
 * Finds or starts the broker (DESIGN §3). Errors: `BUS_UNAVAILABLE` (a taken port says what to set), `BROKER_INVALID`,
 * `BUS_URL_INVALID`.
 */
export const chooseBroker = (options: BrokerOptions, deps: BrokerDeps): Promise<ChosenBroker> => {
  if (options.external !== undefined) return external(options.external, options, deps);
  return options.home === null ? homeless(options, deps) : ofHome(options.home, options, deps);
};
