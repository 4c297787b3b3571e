import {
  type Act,
  type Admission,
  AppError,
  admit,
  applyPolicy,
  type Explanation,
  emptyLedger,
  isChange,
  isEmptyLedger,
  type ObservedEntry,
  ownedCount,
  type Plan,
  plan as planOf,
  settle,
  toAppError,
} from '@infrakit/core';
import type { CallContext } from '@infrakit/spi';
import type { BudgetRecord } from '../log/ledger-store.ts';
import { explainByCommit, forgetDeparted, nameDepartures } from '../rule/commit-explanation.ts';
import type { Keyed, Rule, Source } from '../rule/rule.ts';
import { bounded, boundsOf } from '../work/bounded.ts';
import type { CycleDeps } from './cycle-deps.ts';
import { type CycleMemory, forgetSeen } from './cycle-memory.ts';

/** One look at both sides: what there is, what would be done about it, and what the budget lets through. */
export interface Look<S> {
  readonly source: Source<S>;
  readonly keyed: Keyed<S>;
  /** The plan as computed, held destroys included. */
  readonly plan: Plan;
  readonly admission: Admission;
  /** To be saved before the acts; null when the record cannot be kept, and then nothing unexplained is let through. */
  readonly record: BudgetRecord | null;
}

/** Why there was nothing to plan from. */
export interface Blind {
  readonly at: 'sink' | 'keys';
  readonly error: AppError;
}

/** What a look is made with. */
export interface LookDeps {
  readonly memory: CycleMemory;
  readonly deps: CycleDeps;
  readonly ctx: CallContext;
}

const readSource = async <S, O>(rule: Rule<S, O>, use: LookDeps): Promise<Source<S>> => {
  try {
    return await bounded((own) => rule.readSource(own), use.ctx, boundsOf(rule, use.deps.clock, 'reading the source'));
  } catch (thrown) {
    const error = toAppError(thrown);
    return { kind: 'unknown', reason: error.message, error };
  }
};

const loadRecord = <S, O>(rule: Rule<S, O>, use: LookDeps): Promise<BudgetRecord> =>
  bounded((own) => use.memory.ledger.load(own), use.ctx, boundsOf(rule, use.deps.clock, 'reading the budget record'));

/** What may be done of a plan whose budget record cannot be kept: nothing unexplained, nor what only the record explains (Law 6). */
export const withoutRecord = (plan: Plan): Pick<Look<unknown>, 'plan' | 'admission' | 'record'> => {
  const isWithheld = (act: Act): boolean =>
    act.kind === 'destroy' && (act.explained === undefined || act.explained.by === 'commit');
  const acts = plan.acts.filter((act) => !isWithheld(act));
  const destroys = plan.acts.flatMap((act) => (act.kind === 'destroy' && isWithheld(act) ? [act.id] : []));
  const held = destroys.length === 0 ? null : { planId: plan.id, destroys };
  return { plan, record: null, admission: { plan: { ...plan, acts }, held, ledger: emptyLedger } };
};

const explainer = <S>(source: Source<S>, keyed: Keyed<S>) => {
  const departures = new Map((source.kind === 'known' ? (source.departures ?? []) : []).map((left) => [left.ID, left]));
  return (entry: ObservedEntry): Explanation | undefined => {
    const left = entry.sourceId === undefined ? undefined : departures.get(entry.sourceId);
    if (left !== undefined && left.Cause !== 'vanished') {
      return { by: 'departure', cause: left.Cause, revision: left.Revision };
    }
    return keyed.explain?.(entry);
  };
};

const budget = async <S, O>(
  rule: Rule<S, O>,
  { source, keyed, plan }: Pick<Look<S>, 'source' | 'keyed' | 'plan'>,
  use: LookDeps,
): Promise<Pick<Look<S>, 'plan' | 'admission' | 'record'>> => {
  const { memory, deps } = use;
  const { maxDestroyPercent, maxDestroyFloor } = rule.settings;
  const nowMs = Math.round(deps.clock.now());
  const owned = ownedCount(keyed.observed, new Set(memory.destroying.keys()));
  let before: BudgetRecord;
  try {
    before = await loadRecord(rule, use);
  } catch (thrown) {
    deps.log.warn({ rule: rule.name, error: toAppError(thrown).message }, 'the budget record cannot be read');
    return withoutRecord(plan);
  }
  const isKnown = source.kind === 'known';
  const commit = isKnown ? nameDepartures(forgetDeparted(before.commit, keyed.observed, plan), plan) : before.commit;
  const explained = explainByCommit(plan, commit);
  const whole = isKnown ? { target: source.target, count: source.count } : {};
  const settled = settle(before.ledger, { ownedCount: owned, nowMs, isKnown, ...whole });
  const admission = admit(settled, explained, {
    isKnown,
    maxDestroyPercent,
    maxDestroyFloor,
    ownedCount: owned,
    nowMs,
  });
  const isSame = admission.ledger === before.ledger && commit === before.commit;
  return { plan: explained, admission, record: isSame ? before : { ledger: admission.ledger, commit } };
};

const isBusy = ({ creating, destroying, underWay, errors }: CycleMemory): boolean =>
  creating.size + destroying.size + underWay.size + errors.size > 0;

// What is named or untagged may become ours without any change of either side: by adoption, or once all specs are back.
const isOwnershipFinal = ({ ownership }: ObservedEntry): boolean =>
  ownership.kind === 'ours' || ownership.kind === 'foreign';

const isRestful = <S>({ plan, record, keyed }: Look<S>): boolean =>
  record !== null &&
  record.commit === null &&
  isEmptyLedger(record.ledger) &&
  !plan.acts.some(isChange) &&
  keyed.observed.every(isOwnershipFinal);

/**
 * The last look, when the rule, both sides and the budget record are the very same as then and it found nothing to do:
 * an idle rule costs two reads.
 */
const restOf = async <S, O>(
  rule: Rule<S, O>,
  { source, sink }: { readonly source: Source<S>; readonly sink: unknown },
  use: LookDeps,
): Promise<Look<S> | null> => {
  const { rest } = use.memory;
  if (rest === null || rest.rule !== rule || rest.source !== source || rest.sink !== sink || isBusy(use.memory)) {
    return null;
  }
  const last = rest.look as Look<S>;
  const record = await loadRecord(rule, use).catch(() => null);
  return record === last.record ? last : null;
};

/** Reads both sides, computes keys, plan, policy and budget. Writes nothing, so that a plan can be shown (Law 3). */
export const look = async <S, O>(rule: Rule<S, O>, use: LookDeps): Promise<Look<S> | Blind> => {
  const { memory, deps } = use;
  const { settings } = rule;
  const [source, sink] = await Promise.all([
    readSource(rule, use),
    bounded((own) => rule.readSink(own), use.ctx, boundsOf(rule, use.deps.clock, 'reading the sink')).catch(toAppError),
  ]);
  if (sink instanceof AppError) return { at: 'sink', error: sink };
  const rested = await restOf(rule, { source, sink }, use);
  if (rested !== null) return rested;
  try {
    const keyed = rule.keys(source, sink);
    forgetSeen(memory, keyed.observed, deps.clock.now());
    const computed = planOf({
      source: keyed.source,
      observed: keyed.observed,
      creating: new Set(memory.creating.keys()),
      destroying: new Set(memory.destroying.keys()),
      onChange: settings.onChange,
      sourcePolicy: settings.sourcePolicy,
      enrollmentPolicy: settings.enrollmentPolicy,
      explain: explainer(source, keyed),
    });
    const plan = applyPolicy(computed, settings.policy);
    const seen = { source, keyed, ...(await budget(rule, { source, keyed, plan }, use)) };
    memory.rest = isRestful(seen) ? { rule, source, sink, look: seen } : null;
    return seen;
  } catch (thrown) {
    return { at: 'keys', error: toAppError(thrown) };
  }
};
