import { rename } from 'node:fs/promises';
import { AppError } from '@infrakit/core';
import type { After, Log } from '@infrakit/spi';
import { ClassicLevel } from 'classic-level';

/**
 * What the broker remembers, by key: whole in memory, and copied to disk in the order of the changes, a few milliseconds
 * later. Nothing that aedes does waits for the disk: it drops a message as a duplicate when a later one overtakes it on the way
 * to a client, which is what a wait in between would cause.
 */
export interface BrokerStore {
  /** What the last run left. */
  readonly loaded: ReadonlyMap<string, Buffer>;
  /** Sets a key, or forgets it for `undefined`. `written`: it is on disk, or was overtaken by a change that is. */
  readonly write: (key: string, value: Buffer | undefined, written?: () => void) => void;
  /** Forgets a key some time: should it be there after a restart, that does no harm. */
  readonly forget: (key: string) => void;
  /** Sets a key that was never set before. Forgotten before it was written it never is, and counts as written. */
  readonly writeNew: (key: string, value: NewValue) => void;
  /** Writes what is still to be written and ends. */
  readonly close: () => Promise<void>;
}

/** A value for a new key. */
export interface NewValue {
  /** Makes the value when it is written. */
  readonly make: () => Buffer;
  /** False: it may stay in memory for up to twice {@link gatherMs}, since it is likely to be forgotten by then. */
  readonly isUrgent: boolean;
  readonly written: () => void;
}

export interface BrokerStoreDeps {
  readonly log: Log;
  readonly after: After;
  /** Is told of each batch that could not be written; the memory stays right. */
  readonly onWriteError: (error: unknown) => void;
}

/** What is not urgent is written when it is at least so old, in ms: most of it is gone by then. */
const gatherMs = 25;

/** A change that is not written yet; its value is made late only when its key is new. */
interface Change {
  readonly value: Buffer | (() => Buffer) | undefined;
  readonly written: (() => void) | undefined;
}

type Database = ClassicLevel<string, Buffer>;

const encodings = { keyEncoding: 'utf8', valueEncoding: 'buffer' } as const;

const codeOf = (thrown: unknown): unknown =>
  thrown instanceof Error ? (codeOf(thrown.cause) ?? Reflect.get(thrown, 'code')) : undefined;

const openAndLoad = async (dir: string): Promise<{ db: Database; loaded: Map<string, Buffer> }> => {
  // Read once, from end to end, and then only written: memory for what is asked again would lie idle.
  const db: Database = new ClassicLevel(dir, { ...encodings, cacheSize: 64 * 1_024, writeBufferSize: 2 ** 20 });
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
  if (dir === undefined) {
    return {
      loaded: new Map(),
      write: (_key, _value, written) => written?.(),
      forget: () => undefined,
      writeNew: (_key, { written }) => written(),
      close: async () => undefined,
    };
  }
  const { db, loaded } = await openOrReplace(dir, deps.log);
  /** To be written now. */
  let pending = new Map<string, Change>();
  /** To be written when they are old enough. A key is in one of the three. */
  let [young, old] = [new Map<string, Change>(), new Map<string, Change>()];
  let writing: Promise<void> | undefined;
  let stopTimer: (() => void) | undefined;

  const writeAll = async (): Promise<void> => {
    while (pending.size > 0) {
      const batch = pending;
      pending = new Map();
      try {
        await db.batch(
          [...batch].map(([key, { value }]) =>
            value === undefined
              ? { type: 'del' as const, key }
              : { type: 'put' as const, key, value: typeof value === 'function' ? value() : value },
          ),
        );
      } catch (error) {
        deps.onWriteError(error);
      }
      for (const { written } of batch.values()) written?.();
    }
    writing = undefined;
  };
  const start = (): void => {
    writing ??= Promise.resolve().then(writeAll);
  };
  const age = (): void => {
    stopTimer = undefined;
    for (const [key, change] of old) pending.set(key, change);
    if (old.size > 0) start();
    old = young;
    young = new Map();
    if (old.size > 0) stopTimer = deps.after(gatherMs, age);
  };
  const addYoung = (key: string, change: Change): void => {
    young.set(key, change);
    stopTimer ??= deps.after(gatherMs, age);
  };
  const takeOut = (key: string): Change | undefined => {
    const change = young.get(key) ?? old.get(key) ?? pending.get(key);
    if (change !== undefined && !young.delete(key) && !old.delete(key)) pending.delete(key);
    return change;
  };

  return {
    loaded,
    write: (key, value, written) => {
      const before = takeOut(key)?.written;
      const both = (): void => {
        before?.();
        written?.();
      };
      pending.set(key, { value, written: before === undefined ? written : both });
      start();
    },
    forget: (key) => {
      const before = takeOut(key);
      if (typeof before?.value === 'function') before.written?.();
      else addYoung(key, { value: undefined, written: before?.written });
    },
    writeNew: (key, { make, isUrgent, written }) => {
      if (!isUrgent) return addYoung(key, { value: make, written });
      pending.set(key, { value: make, written });
      start();
    },
    close: async () => {
      stopTimer?.();
      age();
      age();
      stopTimer?.();
      start();
      await writing;
      await db.close();
    },
  };
};
