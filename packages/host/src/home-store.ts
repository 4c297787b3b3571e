import { AppError } from '@infrakit/core';
import { type HeldLock, openFileStore } from '@infrakit/manager';
import { memoryStore, type Store } from '@infrakit/spi';
import { defer, from, mergeMap } from 'rxjs';
import type { Home } from './home.ts';
import { lockStore } from './stack-id.ts';

/** The store of a home, and how to give it back. */
export interface HomeStore {
  readonly store: Store;
  readonly close: () => Promise<void>;
}

/**
 * The store of a home, opened and locked when it is first used: only a manager does. In memory without a home. Errors of
 * every call: `STORE_UNAVAILABLE` while another process has it, `STORE_CORRUPT`.
 */
export const homeStore = (home: Home | null): HomeStore => {
  if (home === null) return { store: memoryStore(), close: async () => undefined };
  let lock: HeldLock | null = null;
  let opened: Promise<Store> | undefined;

  const open = async (): Promise<Store> => {
    const held = await lockStore(home);
    if (held === null) {
      throw new AppError('STORE_UNAVAILABLE', `another manager of this home writes ${home.configs}: stop it first`);
    }
    try {
      const store = await openFileStore(home.configs);
      lock = held;
      return store;
    } catch (error) {
      await held.release();
      throw error;
    }
  };
  const get = (): Promise<Store> => {
    opened ??= open().catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
  return {
    store: {
      read: async (params, ctx) => (await get()).read(params, ctx),
      write: async (params, ctx) => (await get()).write(params, ctx),
      remove: async (params, ctx) => (await get()).remove(params, ctx),
      list: async (params, ctx) => (await get()).list(params, ctx),
      watch: (prefix) => defer(() => from(get()).pipe(mergeMap((store) => store.watch(prefix)))),
    },
    close: async () => {
      await opened?.catch(() => undefined);
      opened = undefined;
      await lock?.release();
      lock = null;
    },
  };
};
