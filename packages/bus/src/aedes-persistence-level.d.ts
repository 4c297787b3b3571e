declare module 'aedes-persistence-level/asyncPersistence.js' {
  import type { Readable } from 'node:stream';

  /** The half of `abstract-level` that the persistence uses. */
  export interface LevelLike {
    get(key: string): Promise<Uint8Array | undefined>;
    put(key: string, value: Uint8Array): Promise<void>;
    del(key: string): Promise<void>;
    clear(range: { gte: string; lt: string }): Promise<void>;
    batch(): { del(key: string): void; write(): Promise<void> };
    batch(
      operations: readonly ({ type: 'put'; key: string; value: Uint8Array } | { type: 'del'; key: string })[],
    ): Promise<void>;
    values(range: { gte: string; lt: string }): AsyncIterable<Uint8Array>;
    close(): Promise<void>;
  }

  /** A message as the broker stores it. */
  export interface StoredPacket {
    topic: string;
    payload: Uint8Array;
    qos: number;
    retain: boolean;
    cmd: 'publish';
  }

  /** What aedes 1.x asks of a persistence; the package's default export is its older, callback half. */
  export default class AsyncLevelPersistence {
    constructor(db: LevelLike);
    setup(broker: unknown): Promise<void>;
    storeRetained(packet: StoredPacket): Promise<void>;
    createRetainedStream(filter: string): Readable;
    createRetainedStreamCombi(filters: readonly string[]): Readable;
    countOffline(): Promise<{ subsCount: number; clientsCount: number }>;
    destroy(): Promise<void>;
  }
}
