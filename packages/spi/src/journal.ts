import { z } from 'zod';
import { mutating, reading, type SpiOf } from './interface.ts';

const Key = z.string().min(1);

/**
 * Small durable facts of one controller, kept in the manager's store: budgets, departures, condemned members. A write is
 * durable when it answers; keys of different controllers never meet. `read` of a missing key finds nothing, `remove` of
 * one is no error, `list` is sorted by key.
 */
export const journalInterface = {
  name: 'Journal',
  version: '1.0.0',
  methods: {
    read: reading(z.strictObject({ key: Key }), z.strictObject({ found: z.boolean(), value: z.unknown() })),
    write: mutating(z.strictObject({ key: Key, value: z.unknown() }), z.strictObject({})),
    remove: mutating(z.strictObject({ key: Key }), z.strictObject({})),
    list: reading(
      z.strictObject({ prefix: z.string() }),
      z.strictObject({ entries: z.array(z.strictObject({ key: Key, value: z.unknown() })) }),
    ),
  },
} as const;

/** {@link journalInterface} as TypeScript. */
export type Journal = SpiOf<typeof journalInterface>;
