import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, compareUtf8, encodeLevel, type Json } from '@infrakit/core';
import { openFactLog } from '@infrakit/runtime';
import type { Journal, Log } from '@infrakit/spi';
import { z } from 'zod';

const Fact = z.union([
  z.strictObject({ write: z.tuple([z.string(), z.unknown()]) }),
  z.strictObject({ remove: z.string() }),
]);

/** A journal and how to close it. */
export interface OpenedJournal {
  readonly journal: Journal;
  readonly close: () => Promise<void>;
}

const asJson = (key: string, value: unknown): Json => {
  const text: string | undefined = JSON.stringify(value);
  if (text === undefined) throw new AppError('PARAMS_INVALID', `the value of ${key} is nothing that JSON can say`);
  return JSON.parse(text) as Json;
};

/**
 * The journal of one controller as a log in `folder`, one file a scope; writes at the same time share a sync. Starts by
 * itself after any crash with what was durable. In memory when `folder` is null.
 */
export const openJournal = async (folder: string | null, scope: string, log: Log): Promise<OpenedJournal> => {
  if (folder !== null) await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = folder === null ? null : join(folder, `${encodeLevel(scope)}.log`);
  const values = new Map<string, Json>();
  const { facts, factLog } = await openFactLog(path, log);
  for (const json of facts) {
    const fact = Fact.safeParse(json);
    if (!fact.success) log.warn({ path }, 'a record of another shape was left out');
    else if ('remove' in fact.data) values.delete(fact.data.remove);
    else values.set(fact.data.write[0], fact.data.write[1] as Json);
  }
  const trim = (): void =>
    factLog.trim(values.size, () => [...values].map(([key, value]): Json => ({ write: [key, value] })));

  const journal: Journal = {
    read: async ({ key }) => {
      const value = values.get(key);
      return value === undefined ? { found: false, value: null } : { found: true, value };
    },
    write: async ({ key, value }) => {
      const json = asJson(key, value);
      await factLog.append({ write: [key, json] }, () => values.set(key, json));
      trim();
      return {};
    },
    remove: async ({ key }) => {
      await factLog.append({ remove: key }, () => values.delete(key));
      trim();
      return {};
    },
    list: async ({ prefix }) => ({
      entries: [...values]
        .filter(([key]) => key.startsWith(prefix))
        .sort(([left], [right]) => compareUtf8(left, right))
        .map(([key, value]) => ({ key, value })),
    }),
  };
  return { journal, close: factLog.close };
};
