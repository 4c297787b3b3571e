import {
  AppError,
  canonicalJson,
  digest as digestOf,
  type InstanceDescription,
  matchesTags,
  parseDuration,
  reservedTags,
  type Tags,
} from '@infrakit/core';
import type { Instance, InstanceListing } from '@infrakit/spi';
import type { InstanceTable, Thing } from './instance-table.ts';
import type { Pretence } from './pretence.ts';

const withoutProperties = ({ Properties, ...rest }: InstanceDescription): InstanceDescription => Object.freeze(rest);

interface Control {
  readonly capacity: number;
  readonly delayMs: number;
}

/** The control keys of the properties: `simulator_cap` and `simulator_delay` (GP §2.10). `INSTANCE_INVALID` names each fault. */
const controlOf = (properties: unknown): Control => {
  const keys = (typeof properties === 'object' && properties !== null ? properties : {}) as Record<string, unknown>;
  const { simulator_cap: cap, simulator_delay: delay } = keys;
  const faults: string[] = [];
  if (cap !== undefined && !(typeof cap === 'number' && Number.isInteger(cap) && cap >= 0)) {
    faults.push(`simulator_cap must be a whole number from 0, not ${JSON.stringify(cap)}`);
  }
  let delayMs = 0;
  try {
    if (typeof delay === 'string') delayMs = parseDuration(delay);
    else if (delay !== undefined)
      faults.push(`simulator_delay must be a duration such as "2s", not ${JSON.stringify(delay)}`);
  } catch (error) {
    faults.push(`simulator_delay: ${error instanceof Error ? error.message : error}`);
  }
  if (faults.length > 0) throw new AppError('INSTANCE_INVALID', faults.join('; '), { facts: { faults } });
  return { capacity: typeof cap === 'number' ? cap : Number.POSITIVE_INFINITY, delayMs };
};

/**
 * One type of simulated instances (GP §2.10). Listings are sorted by id and kept until the table changes, so that an idle
 * describe costs nothing; the digest is that of the table's incarnation and version.
 */
export const simulatedInstance = (
  table: InstanceTable,
  facts: { readonly endpoint: string; readonly incarnation: string; readonly pretence: Pretence },
): Instance => {
  const listings = new Map<string, InstanceListing & { readonly kind: 'instances' }>();
  const making = new Map<string, Promise<{ id: string }>>();
  let listedVersion = -1;
  let inProgress = 0;

  const existing = (id: string): Thing => {
    const thing = table.find(id);
    if (thing === undefined) throw new AppError('INSTANCE_NOT_FOUND', `not found ${id}`, { facts: { id } });
    return thing;
  };

  const listing = (tags: Tags, hasProperties: boolean): InstanceListing & { readonly kind: 'instances' } => {
    if (listedVersion !== table.version()) listings.clear();
    listedVersion = table.version();
    const query = canonicalJson([tags, hasProperties]);
    const known = listings.get(query);
    if (known !== undefined) return known;
    const matching = table.all().filter(({ Tags }) => matchesTags(Tags, tags));
    const instances = hasProperties ? matching : matching.map(withoutProperties);
    Object.freeze(instances);
    const made = Object.freeze({
      kind: 'instances' as const,
      digest: `${facts.incarnation}.${listedVersion}.${digestOf(query)}`,
      instances,
    });
    listings.set(query, made);
    return made;
  };

  const make = async (
    { spec }: Parameters<Instance['provision']>[0],
    ctx: Parameters<Instance['provision']>[1],
  ): Promise<{ id: string }> => {
    const { capacity, delayMs } = controlOf(spec.Properties);
    if (table.count() + inProgress >= capacity) throw new AppError('INSTANCE_FAILED', `at capacity ${capacity}`);
    inProgress += 1;
    try {
      await facts.pretence.provision(ctx, delayMs);
      await table.admitTerm(ctx.fencing);
      const id = table.newId();
      const { LogicalID, Properties, Init: init, Attachments: attachments } = spec;
      const Tags = { ...spec.Tags, [reservedTags.simulator]: facts.endpoint };
      const key = ctx.idempotencyKey;
      const description = { ID: id, LogicalID, Tags, ...(Properties !== undefined && { Properties }) };
      await table.put({ description, init, attachments, ...(key !== undefined && { key }) });
      return { id };
    } finally {
      inProgress -= 1;
    }
  };

  return {
    validate: async ({ properties }) => {
      controlOf(properties);
      return {};
    },
    provision: async (params, ctx) => {
      const key = ctx.idempotencyKey;
      if (key === undefined) return make(params, ctx);
      const living = table.findByKey(key);
      if (living !== undefined) return { id: living.description.ID };
      const running = making.get(key) ?? make(params, ctx).finally(() => making.delete(key));
      making.set(key, running);
      return running;
    },
    label: async ({ id, labels }, ctx) => {
      await facts.pretence.start(ctx);
      await table.admitTerm(ctx.fencing);
      const thing = existing(id);
      const { description } = thing;
      await table.put({ ...thing, description: { ...description, Tags: { ...description.Tags, ...labels } } });
      return {};
    },
    destroy: async ({ id }, ctx) => {
      existing(id);
      await facts.pretence.destroy(ctx);
      await table.admitTerm(ctx.fencing);
      existing(id);
      await table.remove(id);
      return {};
    },
    describe: async ({ tags, properties, digest }, ctx) => {
      await facts.pretence.describe(ctx);
      const answer = listing(tags, properties);
      return answer.digest === digest ? Object.freeze({ kind: 'unchanged', digest }) : answer;
    },
  };
};
