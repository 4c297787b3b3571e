import type { Observable } from 'rxjs';
import { z } from 'zod';
import { mutating, reading, type SpiOf } from './interface.ts';

const Key = z.string().min(1);
const Revision = z.number().int().min(1);

/** One record: its value, and the store's revision when it was last written. */
export const StoreRecord = z.strictObject({ key: Key, value: z.unknown(), revision: Revision });
export type StoreRecord = z.infer<typeof StoreRecord>;

/** The revision a record must still have: a number, or 0 for "must not exist"; left out for any. */
const Expect = z.number().int().min(0).optional();

/**
 * Where a manager keeps what was committed. Revisions rise by each write of any key; a write is durable when it answers;
 * a record that is not at the expected revision is `STORE_CONFLICT`. `fencing` of the context guards every write: an
 * older term than the store has seen in its scope is `TERM_STALE` (Law 12).
 */
export const storeInterface = {
  name: 'Store',
  version: '1.0.0',
  methods: {
    read: reading(z.strictObject({ key: Key }), z.strictObject({ record: StoreRecord.nullable() })),
    write: mutating(
      z.strictObject({ key: Key, value: z.unknown(), expect: Expect }),
      z.strictObject({ revision: Revision }),
    ),
    remove: mutating(z.strictObject({ key: Key, expect: Expect }), z.strictObject({})),
    list: reading(z.strictObject({ prefix: z.string() }), z.strictObject({ records: z.array(StoreRecord) })),
  },
} as const;

/** A record that was written, or removed (`record` null). */
export interface StoreChange {
  readonly key: string;
  readonly record: StoreRecord | null;
}

/** {@link storeInterface} as TypeScript, and a live view of changes from the subscription on, made by anybody. */
export type Store = SpiOf<typeof storeInterface> & {
  readonly watch: (prefix: string) => Observable<StoreChange>;
};
