import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, compareUtf8, encodeLevel, type Json } from '@infrakit/core';
import { type Serial, serial } from '@infrakit/runtime';
import { type CallContext, fencingTerms, frozenCopy, type Store, type StoreChange, StoreRecord } from '@infrakit/spi';
import { Observable } from 'rxjs';
import { z } from 'zod';
import { readDurable, removeDurable, writeDurable } from './durable-file.ts';

/** What a store keeps beside its records: the last revision it gave, and the highest term it has seen of each scope. */
const Counters = z.object({
  revision: z.number().int().min(0),
  terms: z.array(z.strictObject({ scope: z.string(), term: z.number().int().min(0) })).default([]),
});
type Counters = z.infer<typeof Counters>;

const countersFile = '.counters.json';

const corrupt = (path: string, error: z.ZodError): AppError =>
  new AppError('STORE_CORRUPT', `${path} is no record of the store: ${error.issues[0]?.message}; move it away`);

const parse = <S extends z.ZodType>(schema: S, path: string, json: Json): z.output<S> => {
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  throw corrupt(path, parsed.error);
};

const fileOf = (key: string): string => `${encodeLevel(key)}.json`;

const readRecords = async (folder: string): Promise<StoreRecord[]> => {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json') && name !== countersFile);
  const records: StoreRecord[] = [];
  for (const name of names.sort()) {
    const path = join(folder, name);
    const json = await readDurable(path);
    if (json !== undefined) records.push(parse(StoreRecord, path, json));
  }
  return records;
};

/**
 * The Store interface over a folder, one readable file a record, each written atomically (GP-M4). The counters are durable
 * before the record that has their revision, so that no revision is ever given twice. One process at a time writes; it
 * holds the lock of the folder. Errors: `STORE_CORRUPT` names the file.
 */
export const openFileStore = async (folder: string): Promise<Store> => {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const records = new Map((await readRecords(folder)).map((record) => [record.key, frozenCopy(record)]));
  const countersPath = join(folder, countersFile);
  const stored = await readDurable(countersPath);
  const newest = Math.max(0, ...[...records.values()].map(({ revision }) => revision));
  let counters: Counters =
    stored === undefined ? { revision: newest, terms: [] } : parse(Counters, countersPath, stored);
  const listeners = new Set<(change: StoreChange) => void>();
  const inTurn: Serial = serial();

  const tell = (key: string): void => {
    const change = { key, record: records.get(key) ?? null };
    for (const listener of [...listeners]) listener(change);
  };

  /** Refuses an older term or another revision than expected, then makes the next revision durable. */
  const admit = async (key: string, expect: number | undefined, { fencing }: CallContext): Promise<number> => {
    const terms = fencingTerms(counters.terms);
    terms.admit(fencing);
    const present = records.get(key)?.revision ?? 0;
    if (expect !== undefined && expect !== present) {
      throw new AppError('STORE_CONFLICT', `${key} is at revision ${present}, not at ${expect}`, { facts: { key } });
    }
    const next = {
      revision: Math.max(counters.revision, newest) + 1,
      terms: terms.all().map(({ scope, term }) => ({ scope, term })),
    };
    await writeDurable(countersPath, next);
    counters = next;
    return next.revision;
  };

  return {
    read: async ({ key }) => ({ record: records.get(key) ?? null }),
    write: ({ key, value, expect }, ctx) =>
      inTurn(async () => {
        const text: string | undefined = JSON.stringify(value);
        if (text === undefined) {
          throw new AppError('PARAMS_INVALID', `the value of ${key} is nothing that JSON can say`);
        }
        const revision = await admit(key, expect, ctx);
        const json = JSON.parse(text) as Json;
        await writeDurable(join(folder, fileOf(key)), { key, value: json, revision });
        records.set(key, frozenCopy({ key, value: json, revision }));
        tell(key);
        return { revision };
      }),
    remove: ({ key, expect }, ctx) =>
      inTurn(async () => {
        await admit(key, expect, ctx);
        await removeDurable(join(folder, fileOf(key)));
        if (records.delete(key)) tell(key);
        return {};
      }),
    list: async ({ prefix }) => ({
      records: [...records.values()]
        .filter(({ key }) => key.startsWith(prefix))
        .sort((left, right) => compareUtf8(left.key, right.key)),
    }),
    watch: (prefix) =>
      new Observable<StoreChange>((observer) => {
        const listener = (change: StoreChange): void => {
          if (change.key.startsWith(prefix)) observer.next(change);
        };
        listeners.add(listener);
        return () => listeners.delete(listener);
      }),
  };
};
