import type { Readable } from 'node:stream';
// @ts-expect-error: the package has no types. Its default export is the older, callback half; aedes 1.x wants this one.
import AsyncLevelPersistence from 'aedes-persistence-level/asyncPersistence.js';

/** A change of one key. */
export type LevelOperation =
  | { readonly type: 'put'; readonly key: string; readonly value: Uint8Array }
  | { readonly type: 'del'; readonly key: string };

/** From a key on, before another. */
export interface LevelRange {
  readonly gte: string;
  readonly lt: string;
}

/** Deletions that are done together by `write`. */
export interface LevelChain {
  readonly del: (key: string) => void;
  readonly write: () => Promise<void>;
}

/** As much of an `abstract-level` database as the persistence uses; ranges are in the order of the keys. */
export interface LevelLike {
  readonly get: (key: string) => Promise<Uint8Array | undefined>;
  readonly put: (key: string, value: Uint8Array) => Promise<void>;
  readonly del: (key: string) => Promise<void>;
  readonly clear: (range: LevelRange) => Promise<void>;
  readonly batch: { (): LevelChain; (operations: readonly LevelOperation[]): Promise<void> };
  readonly values: (range: LevelRange) => AsyncIterable<Uint8Array>;
  readonly close: () => Promise<void>;
}

/** A message as aedes hands it over. */
export interface StoredPacket {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly qos: number;
}

/** A subscription of a client. */
export interface StoredSubscription {
  readonly topic: string;
  readonly qos: number;
}

/** A message with its number in this run of the broker. */
export interface NumberedPacket extends StoredPacket {
  readonly brokerId: string;
  readonly brokerCounter: number;
  readonly retain: boolean;
}

/** As much of the persistence as is replaced or called here; aedes knows the rest. */
export interface LevelPersistence {
  setup(broker: unknown): Promise<void>;
  storeRetained(packet: StoredPacket): Promise<void>;
  outgoingClearMessageId(client: { readonly clean: boolean }, packet: object): Promise<unknown>;
  cleanSubscriptions(client: { readonly id: string }): Promise<void>;
  addSubscriptions(client: { readonly id: string }, subscriptions: readonly StoredSubscription[]): Promise<void>;
  removeSubscriptions(client: { readonly id: string }, filters: readonly string[]): Promise<void>;
  subscriptionsByClient(client: { readonly id: string }): Promise<readonly StoredSubscription[]>;
  outgoingEnqueueCombi(
    subscriptions: readonly (StoredSubscription & { readonly clientId: string })[],
    packet: NumberedPacket,
  ): Promise<unknown>;
  createRetainedStream(filter: string): Readable;
  createRetainedStreamCombi(filters: readonly string[]): Readable;
}

/** What aedes remembers with, on a database. */
export const levelPersistence = (db: LevelLike): LevelPersistence => new AsyncLevelPersistence(db);
