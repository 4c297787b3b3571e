import { AppError, digest, getByPath, listChildren, type PathSegments, parsePath } from '@infrakit/core';
import { frozenCopy } from '../frozen-copy.ts';
import type { Updatable } from '../metadata.ts';
import { type MemoryGate, memoryGate } from './memory-gate.ts';

/** The document behind a memory tree, which outlives restarts, and what a test does to it. */
export interface MemoryMetadataWorld extends MemoryGate {
  readonly get: () => unknown;
  readonly set: (document: unknown) => void;
}

/** A document that is there already. */
export const memoryMetadataWorld = (document: unknown = {}): MemoryMetadataWorld => {
  let held = frozenCopy(document);
  return {
    ...memoryGate(),
    get: () => held,
    set: (next) => {
      held = frozenCopy(next);
    },
  };
};

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const merge = (base: unknown, over: unknown): unknown => {
  if (!isMap(base) || !isMap(over)) return over;
  const merged: [string, unknown][] = Object.entries(over).map(([key, value]) => [
    key,
    Object.hasOwn(base, key) ? merge(base[key], value) : value,
  ]);
  return Object.fromEntries([...Object.entries(base), ...merged]);
};

/** The value wrapped into maps, one for each segment, so that it can be laid over a document. */
const placed = (path: PathSegments, value: unknown): unknown =>
  path
    .filter((segment) => segment !== '' && segment !== '.')
    .reduceRight((inner, segment) => ({ [segment]: inner }), value);

/** A readable and updatable tree in memory. The same world given again is a restart. */
export const memoryMetadata = (
  world: MemoryMetadataWorld = memoryMetadataWorld(),
): { readonly metadata: Updatable; readonly world: MemoryMetadataWorld } => {
  const casOf = (proposed: unknown): string => digest([world.get(), proposed]);
  const metadata: Updatable = {
    keys: async ({ path }, ctx) => {
      await world.enter(ctx);
      return { nodes: listChildren(world.get(), parsePath(path)) ?? null };
    },
    get: async ({ path }, ctx) => {
      await world.enter(ctx);
      const value = getByPath(world.get(), parsePath(path));
      return { found: value !== undefined, value: value ?? null };
    },
    changes: async ({ changes }, ctx) => {
      await world.enter(ctx);
      const original = world.get();
      const proposed = changes.reduce<unknown>(
        (document, { path, value }) => merge(document, placed(parsePath(path), value)),
        original,
      );
      return { original, proposed: frozenCopy(proposed), cas: casOf(proposed) };
    },
    commit: async ({ proposed, cas }, ctx) => {
      await world.enter(ctx);
      if (casOf(proposed) !== cas) {
        throw new AppError(
          'METADATA_CONFLICT',
          'cas mismatch: the document or the proposal is not the one that was shown',
        );
      }
      world.set(proposed);
      return {};
    },
  };
  return { metadata, world };
};
