import { randomBytes } from 'node:crypto';
import { type BrokerAddress, type Bus, connectMqtt, openBus } from '@infrakit/bus';
import { addressOfRecord, readBrokerRecord } from '@infrakit/host';
import { realAfter } from '@infrakit/spi';
import { recordingLog } from '../host/recording-log.ts';

/** A process on the bus that runs nothing, as a command line is; with how to end it. */
export type Observer = Bus & AsyncDisposable;

/** Joins a broker. */
export const observe = async (address: BrokerAddress): Promise<Observer> => {
  const nonce = randomBytes(8).toString('hex');
  const { log } = recordingLog();
  const deps = { after: realAfter, random: Math.random, log };
  const bus = await openBus({
    connect: (will) => connectMqtt({ address, clientId: `observer-${nonce}`, will }, deps),
    identity: { nonce, pid: process.pid, host: 'observer', version: '0.0.0-test' },
    clock: { nowMs: Date.now, after: realAfter },
    random: Math.random,
    newId: () => randomBytes(8).toString('hex'),
    log,
  });
  return { ...bus, [Symbol.asyncDispose]: bus.close };
};

/** Joins the broker of a home, as its `broker.json` says. */
export const observeHome = async (home: string): Promise<Observer> => {
  const record = await readBrokerRecord(home);
  if (record === undefined) throw new Error(`${home} has no broker.json`);
  return observe(addressOfRecord(record));
};
