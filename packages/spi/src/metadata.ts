import { z } from 'zod';
import { mutating, reading, type SpiOf } from './interface.ts';

const Path = z.strictObject({ path: z.string() });
const Value = z.unknown();

const readingMethods = {
  keys: reading(Path, z.strictObject({ nodes: z.array(z.string()).nullable() })),
  get: reading(Path, z.strictObject({ found: z.boolean(), value: Value })),
};

/** A readable tree (GP §2.5): sorted children of a path (null when it is not there), and the value at a path. */
export const metadataInterface = { name: 'Metadata', version: '1.0.0', methods: readingMethods } as const;

/** {@link metadataInterface} as TypeScript. */
export type MetadataSource = SpiOf<typeof metadataInterface>;

const Changes = z.array(z.strictObject({ path: z.string().min(1), value: Value })).min(1);

/**
 * A tree that can be changed under an optimistic lock: `changes` proposes and writes nothing, `commit` writes the proposal
 * only while `cas` still fits the document, else `METADATA_CONFLICT` (GP §2.5). Maps merge, lists are replaced.
 */
export const updatableInterface = {
  name: 'Updatable',
  version: '1.0.0',
  methods: {
    ...readingMethods,
    changes: reading(
      z.strictObject({ changes: Changes }),
      z.strictObject({ original: Value, proposed: Value, cas: z.string() }),
    ),
    commit: mutating(z.strictObject({ proposed: Value, cas: z.string() }), z.strictObject({})),
  },
} as const;

/** {@link updatableInterface} as TypeScript. */
export type Updatable = SpiOf<typeof updatableInterface>;
