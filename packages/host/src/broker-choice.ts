import { join } from 'node:path';
import { isLoopback } from '@infrakit/bus';
import { AppError, type BrokerAddress, describeBroker, parseBrokerUrl } from '@infrakit/core';
import { tryLock } from '@infrakit/manager';
import {
  addressOfRecord,
  type BrokerRecord,
  findLiveBroker,
  removeBrokerRecord,
  writeBrokerRecord,
} from './broker-json.ts';
import type { BrokerDeps, BrokerOptions, ChosenBroker } from './broker-options.ts';
import type { Home } from './home.ts';
import { embeddedVersion, homelessBroker, ownBroker } from './own-broker.ts';
import { type ExternalBroker, fallbackPrefix } from './settings.ts';
import { readTls } from './tls-files.ts';
import { untilFound } from './waiting.ts';

const joinEveryMs = 50;

const isAnonymous = (address: BrokerAddress): boolean => {
  if (address.kind === 'unix' || address.username !== undefined) return false;
  if ((address.kind === 'tls' || address.kind === 'wss') && address.files.cert !== undefined) return false;
  return !isLoopback('host' in address ? address.host : new URL(address.url).hostname);
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
      const broker = await ownBroker(home, options, deps);
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
  return options.home === null ? homelessBroker(options, deps) : ofHome(options.home, options, deps);
};
