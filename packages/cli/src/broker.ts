import { homedir } from 'node:os';
import { type BrokerAddress, describeBroker, type TlsMaterial } from '@infrakit/bus';
import { AppError, type ErrorCode } from '@infrakit/core';
import {
  addressOfRecord,
  type Environment,
  externalBrokerOf,
  fallbackPrefix,
  homeOf,
  isLivingProcess,
  prefixOf,
  readBrokerRecord,
  readTls,
} from '@infrakit/host';

/** The broker that a command talks to. */
export interface KnownBroker {
  readonly address: BrokerAddress;
  readonly tls: TlsMaterial;
  readonly prefix: string;
  /** Who runs it, if that is one of our own processes. */
  readonly pid?: number;
  /** Says of a failure to connect what to do about it. */
  readonly explain: (error: AppError) => AppError;
}

const howToStart = 'start it with `infrakit plugin start manager:mystack group …`, or set INFRAKIT_BROKER';

const sameWith = (code: ErrorCode, message: string, cause: AppError): AppError =>
  new AppError(code, message, { facts: cause.facts, cause });

/** Finds it by `INFRAKIT_BROKER`, else by `broker.json` of the home; it never guesses (DESIGN §3). `BUS_UNAVAILABLE`. */
export const findBroker = async (env: Environment): Promise<KnownBroker> => {
  const external = externalBrokerOf(env);
  const prefix = prefixOf(env);
  if (external !== undefined) {
    const { address } = external;
    return {
      address,
      tls: await readTls(address),
      prefix: prefix ?? fallbackPrefix,
      explain: (error) => sameWith(error.code, `INFRAKIT_BROKER: ${error.message}`, error),
    };
  }
  const home = homeOf(env, homedir());
  const record = await readBrokerRecord(home);
  if (record === undefined) throw new AppError('BUS_UNAVAILABLE', `nothing runs in ${home}: ${howToStart}`);
  const address = addressOfRecord(record);
  return {
    address,
    tls: await readTls(address),
    prefix: prefix ?? record.prefix,
    pid: record.pid,
    explain: (error) => {
      if (record.kind !== 'embedded' || error.code !== 'BUS_UNAVAILABLE') {
        return sameWith(error.code, `the broker of ${home}, ${describeBroker(address)}: ${error.message}`, error);
      }
      return error.facts.timeoutMs !== undefined && isLivingProcess(record.pid)
        ? sameWith(error.code, `process ${record.pid}, which runs in ${home}, does not answer: ${error.message}`, error)
        : sameWith(error.code, `nothing runs in ${home} any more (${error.message}): ${howToStart}`, error);
    },
  };
};
