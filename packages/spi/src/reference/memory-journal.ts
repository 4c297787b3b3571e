import { AppError, compareUtf8 } from '@infrakit/core';
import type { Journal } from '../journal.ts';

/** What outlives the journals opened on it: hand the same one to the next journal to play a restart. */
export const memoryStorage = (): Map<string, string> => new Map();

/**
 * A {@link Journal} in memory. Values are kept as JSON text, so that nothing is shared by reference; what JSON cannot say
 * is `PARAMS_INVALID`. Several controllers may share one `storage` under different scopes.
 */
export const memoryJournal = (storage: Map<string, string> = memoryStorage(), scope = ''): Journal => {
  const root = `${encodeURIComponent(scope)}/`;
  return {
    read: async ({ key }) => {
      const text = storage.get(root + key);
      return text === undefined ? { found: false, value: null } : { found: true, value: JSON.parse(text) };
    },
    write: async ({ key, value }) => {
      const text: string | undefined = JSON.stringify(value);
      if (text === undefined) throw new AppError('PARAMS_INVALID', `the value of ${key} is nothing that JSON can say`);
      storage.set(root + key, text);
      return {};
    },
    remove: async ({ key }) => {
      storage.delete(root + key);
      return {};
    },
    list: async ({ prefix }) => {
      const entries: { key: string; value: unknown }[] = [];
      for (const [path, text] of storage) {
        if (path.startsWith(root + prefix)) entries.push({ key: path.slice(root.length), value: JSON.parse(text) });
      }
      return { entries: entries.sort((left, right) => compareUtf8(left.key, right.key)) };
    },
  };
};
