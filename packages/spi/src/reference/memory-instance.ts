import { AppError, canonicalJson, digest, type InstanceDescription, matchesTags } from '@infrakit/core';
import { frozenCopy } from '../frozen-copy.ts';
import type { Instance, InstanceListing } from '../instance.ts';
import { type MemoryThing, type MemoryWorld, memoryWorld } from './memory-world.ts';

export interface MemoryInstanceOptions {
  /** What it works on; a new, empty world when left out. The same world given again is a restart. */
  readonly world?: MemoryWorld;
  /** Every fault of some properties, as sentences; all properties are valid when left out. */
  readonly faultsOf?: (properties: unknown) => readonly string[];
  /** Whether `label` is refused with `LABEL_REFUSED`. */
  readonly isRelabelRefused?: boolean;
}

const withoutProperties = ({ Properties, ...rest }: InstanceDescription): InstanceDescription => Object.freeze(rest);

/**
 * The instance interface in memory: all that the contract demands, nothing else. Gives the world it works on beside it.
 * Answers are kept until the world changes, so that an idle describe costs nothing.
 */
export const memoryInstance = (
  options: MemoryInstanceOptions = {},
): { readonly instance: Instance; readonly world: MemoryWorld } => {
  const { world = memoryWorld(), faultsOf = () => [], isRelabelRefused = false } = options;
  const listings = new Map<string, InstanceListing & { readonly kind: 'instances' }>();
  let listedVersion = -1;

  const check = (properties: unknown): void => {
    const faults = faultsOf(properties);
    if (faults.length > 0) throw new AppError('INSTANCE_INVALID', faults.join('; '), { facts: { faults } });
  };
  const existing = (id: string): MemoryThing => {
    const thing = world.find(id);
    if (thing === undefined) throw new AppError('INSTANCE_NOT_FOUND', `no instance ${id}`, { facts: { id } });
    return thing;
  };
  const listing = (tags: Readonly<Record<string, string>>, hasProperties: boolean) => {
    if (listedVersion !== world.version()) listings.clear();
    listedVersion = world.version();
    const query = canonicalJson([tags, hasProperties]);
    const known = listings.get(query);
    if (known !== undefined) return known;
    const matching = world.all().filter((description) => matchesTags(description.Tags, tags));
    const instances = hasProperties ? matching : matching.map(withoutProperties);
    Object.freeze(instances);
    const made = Object.freeze({
      kind: 'instances' as const,
      digest: digest([tags, hasProperties, instances]),
      instances,
    });
    listings.set(query, made);
    return made;
  };

  const instance: Instance = {
    validate: async ({ properties }, ctx) => {
      await world.enter(ctx);
      check(properties);
      return {};
    },
    provision: async ({ spec }, ctx) => {
      await world.enter(ctx);
      world.checkTerm(ctx);
      check(spec.Properties);
      world.countWrite();
      const key = ctx.idempotencyKey;
      const living = key === undefined ? undefined : world.findByKey(key);
      if (living !== undefined) return { id: living.description.ID };
      const id = world.newId();
      const { LogicalID, Tags, Properties } = frozenCopy(spec);
      world.put({ description: { ID: id, LogicalID, Tags, Properties }, key });
      return { id };
    },
    label: async ({ id, labels }, ctx) => {
      await world.enter(ctx);
      world.checkTerm(ctx);
      const { description, key } = existing(id);
      if (isRelabelRefused)
        throw new AppError('LABEL_REFUSED', `instance ${id} cannot be relabelled`, { facts: { id } });
      world.countWrite();
      world.put({ description: { ...description, Tags: { ...description.Tags, ...labels } }, key });
      return {};
    },
    destroy: async ({ id }, ctx) => {
      await world.enter(ctx);
      world.checkTerm(ctx);
      existing(id);
      world.countWrite();
      world.remove(id);
      return {};
    },
    describe: async ({ tags, properties, digest: known }, ctx) => {
      await world.enter(ctx);
      if (world.isTorn()) throw new AppError('INSTANCE_FAILED', 'a part of the world cannot be read');
      const answer = listing(tags, properties);
      return answer.digest === known ? Object.freeze({ kind: 'unchanged', digest: known }) : answer;
    },
  };
  return { instance, world };
};
