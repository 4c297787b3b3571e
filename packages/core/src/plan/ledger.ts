import { z } from 'zod';
import { compareUtf8 } from '../value/canonical.ts';
import type { ObservedEntry } from './entry.ts';
import { mayDestroy } from './plan-sink.ts';

const Ms = z.number().int();

/** What a rule keeps of its unexplained destroys; durable, so that neither a restart nor small steps get around it (Law 6). */
export const Ledger = z.strictObject({
  /** Destroys let through without an explanation; those let through by `approve` are not counted. */
  unexplained: z.array(z.strictObject({ id: z.string(), atMs: Ms, isApproved: z.literal(true).optional() })),
  /** The most entries of ours since the ledger was empty; 0 while it is empty. */
  peak: z.number().int().min(0),
  /** Destroys that are not let through, and the plan that has them; reviewed once the group is whole. */
  held: z
    .strictObject({ planId: z.string(), sinceMs: Ms, ids: z.array(z.string()), isReviewable: z.boolean() })
    .optional(),
  /** The plan that `approve` lets through, once. */
  approved: z.string().optional(),
});
export type Ledger = z.infer<typeof Ledger>;

/** A ledger with nothing in it. */
export const emptyLedger: Ledger = Object.freeze({ unexplained: [], peak: 0 });

/** Whether a ledger counts, holds and approves nothing. */
export const isEmptyLedger = ({ unexplained, held, approved }: Ledger): boolean =>
  unexplained.length === 0 && held === undefined && approved === undefined;

/** How many entries of a sink are ours, for the budget: those that may be destroyed and whose destroy is not under way. */
export const ownedCount = (observed: readonly ObservedEntry[], destroying?: ReadonlySet<string>): number => {
  let count = 0;
  for (const { id, ownership } of observed) if (mayDestroy(ownership) && !destroying?.has(id)) count += 1;
  return count;
};

/** A hold with these ids, in order; the same object where nothing about it is new. */
export const sameOrNewHold = (
  before: Ledger['held'],
  { planId, ids, nowMs }: { readonly planId: string; readonly ids: readonly string[]; readonly nowMs: number },
): NonNullable<Ledger['held']> => {
  const sorted = [...ids].sort(compareUtf8);
  if (before === undefined) return { planId, sinceMs: nowMs, ids: sorted, isReviewable: false };
  const isSame =
    before.planId === planId &&
    before.ids.length === sorted.length &&
    sorted.every((id, index) => id === before.ids[index]);
  return isSame ? before : { ...before, planId, ids: sorted };
};
