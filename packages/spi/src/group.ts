import { MembersAnswer } from '@infrakit/core';
import { z } from 'zod';
import { controllerInterface } from './controller.ts';
import { mutating, reading, type SpiOf } from './interface.ts';

const Name = z.string().min(1);
const Count = z.number().int().min(0);
const Group = z.strictObject({ name: Name });
const Done = z.strictObject({});

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
    ),
    size: reading(Group, z.strictObject({ size: Count })),
    setSize: mutating(z.strictObject({ name: Name, size: Count }), z.strictObject({ before: Count, after: Count })),
    destroyInstances: mutating(
      z.strictObject({ name: Name, instances: z.array(z.string().min(1)).min(1) }),
      z.strictObject({ size: Count }),
    ),
    update: mutating(z.strictObject({ name: Name, verb: z.enum(['pause', 'resume', 'cancel', 'rollback']) }), Done),
    registerConsumer: mutating(z.strictObject({ name: Name, consumer: Name }), Done),
    acknowledge: mutating(z.strictObject({ name: Name, consumer: Name, revision: Count }), Done),
    unregisterConsumer: mutating(z.strictObject({ name: Name, consumer: Name }), Done),
  },
} as const;

/** {@link groupInterface} as TypeScript. */
export type Group = SpiOf<typeof groupInterface>;
