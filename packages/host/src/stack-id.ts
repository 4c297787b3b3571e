import { join } from 'node:path';
import { AppError } from '@infrakit/core';
import { openFileStore, tryLock } from '@infrakit/manager';
import type { CallContext } from '@infrakit/spi';
import { z } from 'zod';
import type { Home } from './home.ts';
import { untilFound, type WaitDeps } from './waiting.ts';

/** Where the store keeps it. */
const stackIdKey = 'stack-id';

const StackId = z.string().min(1);
const everyMs = 25;

/** The lock of whoever writes the store of a home. */
export const lockStore = (home: Home) => tryLock(join(home.locks, 'configs'));

const read = async (home: Home, ctx: CallContext): Promise<string | undefined> => {
  const { record } = await (await openFileStore(home.configs)).read({ key: stackIdKey }, ctx);
  if (record === null) return undefined;
  const parsed = StackId.safeParse(record.value);
  if (parsed.success) return parsed.data;
  throw new AppError('STORE_CORRUPT', `the stack id in ${home.configs} is no text: move it away, or put it right`);
};

/**
 * The stack id of a home, the same for every process and start: made once, from the name of the first manager and an id.
 * Without a home it lives as long as the process. Errors: `STORE_CORRUPT`, `STORE_UNAVAILABLE`.
 */
export const stackIdOf = async (
  home: Home | null,
  fresh: { readonly manager: string | undefined; readonly newId: () => string },
  options: WaitDeps & { readonly timeoutMs: number },
): Promise<string> => {
  const made = (): string => [fresh.manager, fresh.newId()].filter((part) => part !== undefined).join('-');
  if (home === null) return made();
  const { signal, timeoutMs } = options;
  const ctx: CallContext = { signal, timeoutMs };
  const attempt = async (): Promise<string | undefined> => {
    const known = await read(home, ctx);
    if (known !== undefined) return known;
    const lock = await lockStore(home);
    if (lock === null) return undefined;
    try {
      const again = await read(home, ctx);
      if (again !== undefined) return again;
      const value = made();
      await (await openFileStore(home.configs)).write({ key: stackIdKey, value, expect: 0 }, ctx);
      return value;
    } finally {
      await lock.release();
    }
  };
  const found = await untilFound(attempt, { everyMs, timeoutMs }, options);
  if (found !== undefined) return found;
  throw new AppError('STORE_UNAVAILABLE', `another process holds ${home.configs} and gave the stack no id`);
};
