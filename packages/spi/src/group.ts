import { Cause, Health, MembersAnswer, Membership } from '@infrakit/core';
import { z } from 'zod';
import { controllerInterface } from './controller.ts';
import { mutating, reading, type SpiOf } from './interface.ts';

const Name = z.string().min(1);
const Count = z.number().int().min(0);
const Group = z.strictObject({ name: Name });
const Done = z.strictObject({});

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const isMember = (value: unknown): boolean =>
  isRecord(value) &&
  typeof value.ID === 'string' &&
  value.ID !== '' &&
  (value.LogicalID === null || typeof value.LogicalID === 'string') &&
  (value.Tags === null ||
    (isRecord(value.Tags) && Object.values(value.Tags).every((tag) => typeof tag === 'string'))) &&
  Health.options.some((health) => health === value.Health) &&
  (value.Address === undefined || typeof value.Address === 'string');

const isDeparture = (value: unknown): boolean =>
  isRecord(value) &&
  typeof value.ID === 'string' &&
  Cause.options.some((cause) => cause === value.Cause) &&
  Number.isInteger(value.Revision);

/** {@link MembersAnswer} by hand: groups have thousands of members, where zod costs 16 times as much. */
const isMembersAnswer = (value: unknown): value is MembersAnswer => {
  if (!isRecord(value)) return false;
  if (value.kind === 'unchanged') return typeof value.digest === 'string';
  return (
    value.kind === 'members' &&
    Membership.safeParse(value.membership).success &&
    Array.isArray(value.members) &&
    value.members.every(isMember) &&
    Array.isArray(value.departures) &&
    value.departures.every(isDeparture)
  );
};

/**
 * A controller whose rules are groups (GP §2.4, DESIGN §3 Membership).
 *
 * - `members` is the truth about who is in; departures since `sinceRevision` say why others left.
 * - `size` is the target, not the count. `setSize` is a commit: durable before it answers (G-13 says it does not wait).
 * - `destroyInstances` refuses the whole call (`MEMBER_UNKNOWN`) when one id is no member, and lowers the target in the
 *   same write that condemns the named members (GP-G4).
 * - `update` pauses, resumes, cancels or rolls back a running update.
 * - departures are kept until every registered consumer has acknowledged their revision.
 */
export const groupInterface = {
  name: 'Group',
  version: '1.0.0',
  methods: {
    ...controllerInterface.methods,
    members: reading(
      z.strictObject({ name: Name, digest: z.string().optional(), sinceRevision: Count.optional() }),
      MembersAnswer,
      { isResult: isMembersAnswer },
    ),
    size: reading(Group, z.strictObject({ size: Count })),
    setSize: mutating(z.strictObject({ name: Name, size: Count }), z.strictObject({ before: Count, after: Count })),
    destroyInstances: mutating(
      z.strictObject({ name: Name, instances: z.array(z.string().min(1)).min(1) }),
      z.strictObject({ size: Count }),
    ),
    update: mutating(z.strictObject({ name: Name, verb: z.enum(['pause', 'resume', 'cancel', 'rollback']) }), Done),
    // Bookkeeping of who reads: it changes nothing that is managed, so readers do it at the group itself.
    registerConsumer: reading(z.strictObject({ name: Name, consumer: Name }), Done),
    acknowledge: reading(z.strictObject({ name: Name, consumer: Name, revision: Count }), Done),
    unregisterConsumer: reading(z.strictObject({ name: Name, consumer: Name }), Done),
  },
} as const;

/** {@link groupInterface} as TypeScript. */
export type Group = SpiOf<typeof groupInterface>;
