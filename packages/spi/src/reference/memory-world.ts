import { compareUtf8, type InstanceDescription, type Tags } from '@infrakit/core';
import type { CallContext } from '../call-context.ts';
import { fencingTerms } from '../fencing.ts';
import { frozenCopy } from '../frozen-copy.ts';
import { type MemoryGate, memoryGate } from './memory-gate.ts';

/** Something that exists, and the idempotency key it was made for. */
export interface MemoryThing {
  readonly description: InstanceDescription;
  readonly key: string | undefined;
}

/** What a memory instance works on, and what a test sees and changes behind its back. It outlives the plugin's restarts. */
export interface MemoryWorld extends MemoryGate {
  /** Everything there is, sorted by id. */
  readonly all: () => readonly InstanceDescription[];
  readonly find: (id: string) => MemoryThing | undefined;
  /** The living thing that was made for a key (Law 7). */
  readonly findByKey: (key: string) => MemoryThing | undefined;
  readonly put: (thing: MemoryThing) => void;
  readonly remove: (id: string) => boolean;
  readonly newId: () => string;
  /** Rises with every change, whoever makes it. */
  readonly version: () => number;
  /** How many things there ever were. */
  readonly made: () => number;
  /** How many mutating calls were accepted (Law 8: an idle cycle makes none). */
  readonly writes: () => number;
  readonly countWrite: () => void;
  /** Remembers the highest term of each scope; an older one is `TERM_STALE` (Law 12). */
  readonly checkTerm: (ctx: CallContext) => void;
  readonly isTorn: () => boolean;
  /** Adds a thing that no call made; gives its id. */
  readonly addForeign: (tags: Tags | null, properties?: unknown) => Promise<string>;
  /** Changes the state of a thing, as if somebody else had. */
  readonly changeBehind: (id: string) => Promise<void>;
  readonly removeBehind: (id: string) => Promise<void>;
  /** Part of what there is cannot be read until the result is called. */
  readonly tear: () => () => void;
}

/** An empty world. `newId` counts `i-000001`, `i-000002`, … unless given. */
export const memoryWorld = (options: { readonly newId?: () => string } = {}): MemoryWorld => {
  const things = new Map<string, MemoryThing>();
  const keys = new Map<string, string>();
  const gate = memoryGate();
  let sorted: readonly InstanceDescription[] | undefined;
  const terms = fencingTerms();
  let [version, made, writes, count, tears] = [0, 0, 0, 0, 0];
  const changed = (): void => {
    version += 1;
    sorted = undefined;
  };
  const newId =
    options.newId ??
    ((): string => {
      count += 1;
      return `i-${String(count).padStart(6, '0')}`;
    });
  const put = (thing: MemoryThing): void => {
    if (!things.has(thing.description.ID)) made += 1;
    if (thing.key !== undefined) keys.set(thing.key, thing.description.ID);
    things.set(thing.description.ID, { ...thing, description: frozenCopy(thing.description) });
    changed();
  };
  const remove = (id: string): boolean => {
    const key = things.get(id)?.key;
    if (key !== undefined && keys.get(key) === id) keys.delete(key);
    const isThere = things.delete(id);
    if (isThere) changed();
    return isThere;
  };
  const find = (id: string): MemoryThing | undefined => things.get(id);
  return {
    all: () => {
      sorted ??= Object.freeze(
        [...things.values()].map((thing) => thing.description).sort((left, right) => compareUtf8(left.ID, right.ID)),
      );
      return sorted;
    },
    find,
    findByKey: (key) => find(keys.get(key) ?? ''),
    put,
    remove,
    newId,
    version: () => version,
    made: () => made,
    writes: () => writes,
    countWrite: () => {
      writes += 1;
    },
    ...gate,
    checkTerm: ({ fencing }) => void terms.admit(fencing),
    isTorn: () => tears > 0,
    addForeign: async (tags, properties) => {
      const id = newId();
      const description = { ID: id, LogicalID: null, Tags: tags === null ? null : { ...tags } };
      put({
        description: properties === undefined ? description : { ...description, Properties: properties },
        key: undefined,
      });
      return id;
    },
    changeBehind: async (id) => {
      const thing = find(id);
      if (thing !== undefined) put({ ...thing, description: { ...thing.description, State: `changed ${version}` } });
    },
    removeBehind: async (id) => {
      remove(id);
    },
    tear: () => {
      tears += 1;
      return () => {
        tears -= 1;
      };
    },
  };
};
