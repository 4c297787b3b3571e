import { Allocation, Health, InstanceDescription, InstanceSpec, MemberIndex } from '@infrakit/core';
import { z } from 'zod';
import { mutating, reading, type SpiOf } from './interface.ts';

const Properties = z.unknown();
const Done = z.strictObject({});

/**
 * What makes a bare instance a member of a group (GP §2.3).
 *
 * - `validate` names every fault at once (`FLAVOR_INVALID`).
 * - `prepare` may change Tags, Init, Attachments and Properties of the instance spec; it has no effect outside.
 * - `healthy` answers for every member asked about, in the order asked.
 * - `drain` is best effort and may be called again for the same member.
 */
export const flavorInterface = {
  name: 'Flavor',
  version: '1.0.0',
  methods: {
    validate: reading(z.strictObject({ properties: Properties, allocation: Allocation }), Done),
    prepare: reading(
      z.strictObject({ properties: Properties, spec: InstanceSpec, allocation: Allocation, index: MemberIndex }),
      z.strictObject({ spec: InstanceSpec }),
    ),
    healthy: reading(
      z.strictObject({ properties: Properties, instances: z.array(InstanceDescription) }),
      z.strictObject({ health: z.array(z.strictObject({ id: z.string().min(1), health: Health })) }),
    ),
    drain: mutating(z.strictObject({ properties: Properties, instance: InstanceDescription }), Done, {
      timeoutMs: 30_000,
    }),
  },
} as const;

/** {@link flavorInterface} as TypeScript. */
export type Flavor = SpiOf<typeof flavorInterface>;
