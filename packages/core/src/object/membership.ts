import { z } from 'zod';
import { Health } from './flavor.ts';

/** One member of a group as others see it: no properties (DESIGN §3). */
export const Member = z.strictObject({
  ID: z.string().min(1),
  LogicalID: z.string().nullable(),
  Tags: z.record(z.string(), z.string()).nullable(),
  Health,
  Address: z.string().optional(),
});
export type Member = z.infer<typeof Member>;

/** Why a member left. Every cause but `vanished` is an act of the group and explains a destroy (Law 6). */
export const Cause = z.enum(['scale', 'update', 'destroy', 'request', 'vanished']);
export type Cause = z.infer<typeof Cause>;

/** A member that left, why, and the membership revision at which it did. */
export const Departure = z.strictObject({ ID: z.string().min(1), Cause, Revision: z.number().int().min(0) });
export type Departure = z.infer<typeof Departure>;

/**
 * What a group knows of its own membership (DESIGN §3). Only `known` may cause a destroy (Law 1); a destroyed group is
 * known with target 0, a freed one is unknown.
 */
export const Membership = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('known'),
    count: z.number().int().min(0),
    target: z.number().int().min(0),
    revision: z.number().int().min(0),
    digest: z.string(),
    phase: z.enum(['running', 'destroyed']),
  }),
  z.strictObject({ kind: z.literal('unknown'), reason: z.string().min(1) }),
  z.strictObject({ kind: z.literal('partial'), reason: z.string().min(1) }),
]);
export type Membership = z.infer<typeof Membership>;

/** The answer to "who is in": nothing new since the digest the caller has, or all of it. */
export const MembersAnswer = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('unchanged'), digest: z.string() }),
  z.strictObject({
    kind: z.literal('members'),
    membership: Membership,
    members: z.array(Member),
    departures: z.array(Departure),
  }),
]);
export type MembersAnswer = z.infer<typeof MembersAnswer>;
