import { AppError } from '../errors.ts';
import type { Act, Plan } from './act.ts';
import { emptyLedger, isEmptyLedger, type Ledger, sameOrNewHold } from './ledger.ts';

/** What a cycle saw. */
export interface BudgetFacts {
  /** Whether the source was known as a whole; otherwise nothing is learnt about who left (Law 1). */
  readonly isKnown: boolean;
  /** How many entries of the sink are ours, before the plan is acted on. */
  readonly ownedCount: number;
  readonly nowMs: number;
}

/** How much may go unexplained: a share of the peak, and a number that is always allowed. */
export interface BudgetLimits {
  /** Default 30. */
  readonly maxDestroyPercent?: number;
  /** Default 3. */
  readonly maxDestroyFloor?: number;
}

/** What the budget lets through. */
export interface Admission {
  /** The plan without the held destroys. Its id is still that of the plan as computed: the one that is shown and approved. */
  readonly plan: Plan;
  /** To be stored before the plan is acted on; the same object as before where nothing changed (Law 8). */
  readonly ledger: Ledger;
  readonly held: { readonly planId: string; readonly destroys: readonly string[] } | null;
}

const hourMs = 3_600_000;

/**
 * What time and the source do to a ledger before it is asked: it empties when the group is whole (count ≥ target), or, for a
 * source without a target, an hour after the last unexplained destroy; else its peak follows the number of ours. A hold
 * outlives both: a whole group only has it reviewed by {@link admit}. The same object where nothing changes (Laws 6 and 8).
 */
export const settle = (
  ledger: Ledger,
  facts: BudgetFacts & { readonly target?: number | undefined; readonly count?: number | undefined },
): Ledger => {
  if (!facts.isKnown || isEmptyLedger(ledger)) return ledger;
  const { target, count } = facts;
  const { held } = ledger;
  const isWhole = target !== undefined && count !== undefined && count >= target;
  const lastMs = ledger.unexplained.reduce((last, { atMs }) => Math.max(last, atMs), Number.NEGATIVE_INFINITY);
  const isOver = target === undefined && held === undefined && facts.nowMs - lastMs >= hourMs;
  if (isWhole || isOver) {
    if (held === undefined && ledger.approved === undefined) return emptyLedger;
    if (ledger.unexplained.length === 0 && ledger.peak === 0 && held?.isReviewable !== false) return ledger;
    return {
      ...ledger,
      unexplained: [],
      peak: 0,
      ...(held !== undefined && { held: { ...held, isReviewable: true } }),
    };
  }
  const peak = Math.max(ledger.peak, facts.ownedCount);
  if (peak === ledger.peak) return ledger;
  return { ...ledger, peak, ...(held !== undefined && { held: { ...held, isReviewable: false } }) };
};

const isUnexplained = (act: Act): boolean => act.kind === 'destroy' && act.explained === undefined;

const unexplainedIds = ({ acts }: Plan): string[] =>
  acts.flatMap((act) => (act.kind === 'destroy' && act.explained === undefined ? [act.id] : []));

/** Held ids that a plan neither keeps nor explains: it would destroy them, or cannot tell. */
const stillMissing = (held: NonNullable<Ledger['held']>, plan: Plan): string[] => {
  const open = new Set<string>();
  for (const act of plan.acts) {
    if (isUnexplained(act) || (act.kind === 'quarantined' && act.side === 'sink')) open.add('id' in act ? act.id : '');
  }
  return held.ids.filter((id) => open.has(id));
};

const withoutHold = ({ unexplained, peak }: Ledger): Ledger => ({ unexplained, peak });

/** The ledger without its hold once all held members are back, explained, or gone from the sink; `plan` is of a known source. */
export const releaseIfReturned = (ledger: Ledger, plan: Plan): Ledger =>
  ledger.held !== undefined && stillMissing(ledger.held, plan).length === 0 ? withoutHold(ledger) : ledger;

const heldOf = ({ held }: Ledger): Admission['held'] =>
  held === undefined ? null : { planId: held.planId, destroys: held.ids };

const hold = (ledger: Ledger, plan: Plan, facts: BudgetFacts): Admission => {
  const before = ledger.held;
  const open = before === undefined ? [] : stillMissing(before, plan);
  const ids = [...new Set([...unexplainedIds(plan), ...open])];
  const held = sameOrNewHold(before, { planId: plan.id, ids, nowMs: facts.nowMs });
  const peak = before === undefined ? Math.max(ledger.peak, facts.ownedCount) : ledger.peak;
  const after = held === before ? ledger : { ...ledger, peak, held };
  const acts = plan.acts.filter((act) => !isUnexplained(act));
  return { plan: acts.length === plan.acts.length ? plan : { id: plan.id, acts }, ledger: after, held: heldOf(after) };
};

const isWithin = (ledger: Ledger, plan: Plan, facts: BudgetFacts & BudgetLimits): boolean => {
  const counted = new Map(ledger.unexplained.map(({ id, isApproved }) => [id, isApproved !== true]));
  const pending = unexplainedIds(plan);
  const spent = ledger.unexplained.filter(({ isApproved }) => isApproved !== true).length;
  const fresh = pending.filter((id) => !counted.has(id)).length;
  const { maxDestroyPercent = 30, maxDestroyFloor = 3, ownedCount } = facts;
  const limit = Math.max(maxDestroyFloor, Math.floor((Math.max(ledger.peak, ownedCount) * maxDestroyPercent) / 100));
  if (fresh > 0 && spent + fresh > limit) return false;
  const leaving = plan.acts.filter((act) => act.kind === 'destroy' || (act.kind === 'duplicate' && act.reduce)).length;
  return leaving < ownedCount || pending.every((id) => counted.get(id) === false);
};

/**
 * What of a plan may be done (Law 6). Unexplained destroys go through together or not at all: together with those in the
 * ledger they may not exceed `maxDestroyPercent` of the peak (at least `maxDestroyFloor`), nor leave nothing of ours. One that
 * is in the ledger already, because it failed, is not counted again. A held rule stays held until all held members are back, the
 * group is whole and the rest is within the budget, a commit, or the approval of exactly this plan. Reductions of duplicates and
 * replacements are not counted. Computing this changes nothing: `ledger` is the one to store.
 */
export const admit = (before: Ledger, plan: Plan, facts: BudgetFacts & BudgetLimits): Admission => {
  const { nowMs } = facts;
  if (!facts.isKnown) return { ...hold(emptyLedger, plan, facts), ledger: before, held: heldOf(before) };
  if (before.approved === plan.id) {
    const unexplained = unexplainedIds(plan).map((id) => ({ id, atMs: nowMs, isApproved: true as const }));
    return {
      plan,
      ledger: unexplained.length === 0 ? emptyLedger : { unexplained, peak: facts.ownedCount },
      held: null,
    };
  }
  const { approved, ...unapproved } = before;
  const ledger = releaseIfReturned(approved === undefined ? before : unapproved, plan);
  const pending = unexplainedIds(plan);
  if (ledger.held !== undefined && (!ledger.held.isReviewable || pending.length === 0))
    return hold(ledger, plan, facts);
  if (pending.length === 0) return { plan, ledger, held: null };
  if (!isWithin(ledger, plan, facts)) return hold(ledger, plan, facts);
  const counted = new Set(ledger.unexplained.map(({ id }) => id));
  const fresh = pending.filter((id) => !counted.has(id)).map((id) => ({ id, atMs: nowMs }));
  if (fresh.length === 0 && ledger.held === undefined) return { plan, ledger, held: null };
  const peak = Math.max(ledger.peak, facts.ownedCount);
  return { plan, ledger: { unexplained: [...ledger.unexplained, ...fresh], peak }, held: null };
};

/**
 * Lets the held plan through, once, at the next {@link admit} of exactly that plan. Without an id the plan held now is meant.
 * Errors: `PLAN_STALE` when nothing is held, or another plan is.
 */
export const approve = (ledger: Ledger, planId?: string): Ledger => {
  const { held } = ledger;
  if (held === undefined) throw new AppError('PLAN_STALE', 'nothing is held', { facts: { planId } });
  if (planId !== undefined && planId !== held.planId) {
    throw new AppError('PLAN_STALE', `plan ${planId} is stale, held is plan ${held.planId}`, {
      facts: { planId, held: held.planId },
    });
  }
  return ledger.approved === held.planId ? ledger : { ...ledger, approved: held.planId };
};

/** A commit of the rule empties the ledger and ends a hold (Law 6). */
export const onCommit = (ledger: Ledger): Ledger => (isEmptyLedger(ledger) ? ledger : emptyLedger);
