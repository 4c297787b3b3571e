import { DestroyContext, InstanceDescription, InstanceSpec } from '@infrakit/core';
import { z } from 'zod';
import { mutating, reading, type SpiOf } from './interface.ts';

const Tags = z.record(z.string(), z.string());

/** Everything that matches, or word that nothing changed since the digest the caller has. */
export const InstanceListing = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('unchanged'), digest: z.string() }),
  z.strictObject({ kind: z.literal('instances'), digest: z.string(), instances: z.array(InstanceDescription) }),
]);
export type InstanceListing = z.infer<typeof InstanceListing>;

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const isTags = (value: unknown): boolean => {
  if (!isRecord(value)) return false;
  for (const key in value) if (typeof value[key] !== 'string') return false;
  return true;
};

const isDescription = (value: unknown): boolean =>
  isRecord(value) &&
  typeof value.ID === 'string' &&
  value.ID !== '' &&
  (value.LogicalID === null || typeof value.LogicalID === 'string') &&
  (value.Tags === null || isTags(value.Tags));

/** {@link InstanceListing} by hand: lists have thousands of entries, where zod costs 16 times as much. */
const isListing = (value: unknown): value is InstanceListing => {
  if (!isRecord(value) || typeof value.digest !== 'string') return false;
  if (value.kind === 'unchanged') return true;
  return value.kind === 'instances' && Array.isArray(value.instances) && value.instances.every(isDescription);
};

const Done = z.strictObject({});

/**
 * Things that can be made, tagged, listed and destroyed (GP §2.2).
 *
 * - `validate` is local and without effect; `INSTANCE_INVALID` names every fault at once.
 * - `provision` answers the id. With an idempotency key it answers the living instance made for that key (Law 7).
 * - `label` adds or overwrites, never removes; `LABEL_REFUSED` where the thing cannot be relabelled.
 * - `destroy` of an unknown id is `INSTANCE_NOT_FOUND`.
 * - `describe` gives those whose tags contain all given ones (GP-S3), complete or an error, never a shorter list; its
 *   digest is that of the observed content, and is dropped after a write of one's own.
 */
export const instanceInterface = {
  name: 'Instance',
  version: '1.0.0',
  methods: {
    validate: reading(z.strictObject({ properties: z.unknown() }), Done),
    provision: mutating(z.strictObject({ spec: InstanceSpec }), z.strictObject({ id: z.string().min(1) }), {
      timeoutMs: 30_000,
    }),
    label: mutating(z.strictObject({ id: z.string().min(1), labels: Tags }), Done),
    destroy: mutating(z.strictObject({ id: z.string().min(1), context: DestroyContext }), Done, { timeoutMs: 30_000 }),
    describe: reading(
      z.strictObject({ tags: Tags, properties: z.boolean(), digest: z.string().optional() }),
      InstanceListing,
      { isResult: isListing },
    ),
  },
} as const;

/** {@link instanceInterface} as TypeScript. */
export type Instance = SpiOf<typeof instanceInterface>;
