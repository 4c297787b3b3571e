import { rename } from 'node:fs/promises';
import { AppError } from '@infrakit/core';
import type { Log } from '@infrakit/spi';
import { ClassicLevel } from 'classic-level';

/**
 * What the broker remembers, by key: whole in memory, and copied to disk in the order of the changes, a few milliseconds
 * later. Nothing waits for the disk: aedes drops a message as a duplicate when a later one overtakes it on the way to a
 * client, which is what a wait in between would cause.
 */
export interface BrokerStore {
  /** What the last run left. */
  readonly loaded: ReadonlyMap<string, Buffer>;
  /** Sets a key, or forgets it for `undefined`. */
  readonly write: (key: string, value: Buffer | undefined) => void;
  /** Writes what is still to be written and ends. */
  readonly close: () => Promise<void>;
}

export interface BrokerStoreDeps {
  readonly log: Log;
  /** Is told of each batch that could not be written; the memory stays right. */
  readonly onWriteError: (error: unknown) => void;
}

type Database = ClassicLevel<string, Buffer>;

const encodings = { keyEncoding: 'utf8', valueEncoding: 'buffer' } as const;

const codeOf = (thrown: unknown): unknown =>
  thrown instanceof Error ? (codeOf(thrown.cause) ?? Reflect.get(thrown, 'code')) : undefined;

const openAndLoad = async (dir: string): Promise<{ db: Database; loaded: Map<string, Buffer> }> => {
  const db: Database = new ClassicLevel(dir, encodings);
  try {
    await db.open();
    const loaded = new Map<string, Buffer>();
    for await (const [key, value] of db.iterator()) loaded.set(key, value);
    return { db, loaded };
  } catch (error) {
    await db.close();
    throw error;
  }
};

/** Opens, and if the database is broken moves it aside and begins anew: a control plane repairs its state by itself. */
const openOrReplace = async (dir: string, log: Log): ReturnType<typeof openAndLoad> => {
  try {
    return await openAndLoad(dir);
  } catch (error) {
    if (codeOf(error) === 'LEVEL_LOCKED') {
      throw new AppError('BROKER_INVALID', `another broker uses ${dir}: stop it, or set another INFRAKIT_HOME`, {
        facts: { dir },
        cause: error,
      });
    }
    try {
      const aside = `${dir}.broken-${process.pid}-${Date.now()}`;
      await rename(dir, aside);
      log.warn({ err: error, dir, aside }, 'the database of the broker is broken: moved aside, beginning anew');
      return await openAndLoad(dir);
    } catch (cause) {
      throw new AppError('BROKER_INVALID', `the broker cannot keep its state in ${dir}`, { facts: { dir }, cause });
    }
  }
};

/** A store on a folder, or in memory only when there is none. Errors: `BROKER_INVALID` (in use, not writable). */
export const openBrokerStore = async (dir: string | undefined, deps: BrokerStoreDeps): Promise<BrokerStore> => {
  if (dir === undefined) return { loaded: new Map(), write: () => undefined, close: async () => undefined };
  const { db, loaded } = await openOrReplace(dir, deps.log);
  let pending = new Map<string, Buffer | undefined>();
  let writing: Promise<void> | undefined;

  const writeAll = async (): Promise<void> => {
    while (pending.size > 0) {
      const batch = pending;
      pending = new Map();
      try {
        await db.batch(
          [...batch].map(([key, value]) =>
            value === undefined ? { type: 'del' as const, key } : { type: 'put' as const, key, value },
          ),
        );
      } catch (error) {
        deps.onWriteError(error);
      }
    }
    writing = undefined;
  };
  return {
    loaded,
    write: (key, value) => {
      pending.set(key, value);
      writing ??= Promise.resolve().then(writeAll);
    },
    close: async () => {
      await writing;
      await db.close();
    },
  };
};
