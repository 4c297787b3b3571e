import { type Act, type AppError, earliestDue, isChange, type Plan, toAppError } from '@infrakit/core';
import type { CallContext } from '@infrakit/spi';
import type { CycleDeps } from './cycle-deps.ts';
import { type CycleMemory, earliestExpected, forgetUnplanned } from './cycle-memory.ts';
import { type Look, look } from './look.ts';
import type { Counts, CycleOutcome, Failure, Held } from './outcome.ts';
import { nameOf, type Performed, perform } from './perform.ts';
import type { Rule } from './rule.ts';

const heldOf = <S>({ admission, record }: Look<S>): Held | null =>
  admission.held === null
    ? null
    : {
        ...admission.held,
        reason:
          record === null
            ? 'the budget record cannot be read, so nothing unexplained is destroyed'
            : `${admission.held.destroys.length} unexplained destroys exceed the budget`,
      };

const countsOf = <S>({ keyed, plan }: Look<S>, performed: Performed, failed: number): Counts => {
  const planned = (kind: Act['kind']): number => plan.acts.filter((act) => act.kind === kind).length;
  const done = (kind: Act['kind']): number => performed.done.filter((act) => act.kind === kind).length;
  return {
    desired: keyed.source.kind === 'unknown' ? 0 : keyed.source.entries.length,
    observed: keyed.observed.length,
    created: done('create'),
    labelled: done('label'),
    replaced: done('replace'),
    destroyed: done('destroy') + done('duplicate'),
    failed,
    deferred: performed.deferred + performed.unfinished,
    quarantined: planned('quarantined'),
    foreign: planned('foreign'),
  };
};

/** Acts of the plan that failed when they were last tried, those that wait to be tried again included. */
const failuresOf = (plan: Plan, memory: CycleMemory): Failure[] =>
  plan.acts.flatMap((act) => {
    const error = isChange(act) ? memory.errors.get(nameOf(act)) : undefined;
    return error === undefined ? [] : [{ act, error }];
  });

/** Tells the source that nothing which left up to here is left to remove; says it once a revision. */
const settleDepartures = async <S, O>(
  rule: Rule<S, O>,
  { source, plan }: Look<S>,
  memory: CycleMemory,
  ctx: CallContext,
) => {
  if (rule.settled === undefined || source.kind !== 'known' || source.revision === undefined) return;
  if (source.revision <= memory.settledRevision || memory.destroying.size + memory.underWay.size > 0) return;
  if (plan.acts.some((act) => act.kind === 'destroy')) return;
  await rule.settled(source.revision, ctx);
  memory.settledRevision = source.revision;
};

const againAt = (memory: CycleMemory, performed: Performed, nowMs: number): number | null => {
  if (performed.notBegun > 0) return nowMs;
  const times = [earliestDue(memory.backoff), earliestExpected(memory)].filter((ms) => ms !== undefined);
  return times.length === 0 ? null : Math.min(...times);
};

/**
 * One cycle (DESIGN §4): read the source and the sink, compute keys, plan, policy and budget, act, and say how it went.
 * Never rejects: whatever goes wrong is part of the outcome. The budget record is durable before the first act (Law 11).
 */
export const reconcile = async <S, O>(
  rule: Rule<S, O>,
  use: { readonly memory: CycleMemory; readonly deps: CycleDeps; readonly signal: AbortSignal },
): Promise<CycleOutcome> => {
  const { memory, deps, signal } = use;
  const cycleId = deps.newId();
  const startedMs = deps.clock.now();
  const fencing = deps.fencing?.();
  const ctx: CallContext = {
    signal,
    timeoutMs: rule.settings.callTimeoutMs,
    trace: cycleId,
    ...(fencing === undefined ? {} : { fencing }),
  };
  const cycle = () => ({ cycleId, startedMs, endedMs: deps.clock.now() });
  const fail = (at: 'sink' | 'keys' | 'journal' | 'prepare', error: AppError): CycleOutcome => ({
    ...cycle(),
    kind: 'failed',
    at,
    error,
  });

  const seen = await look(rule, { memory, deps, ctx });
  if ('at' in seen) return fail(seen.at, seen.error);
  try {
    if (seen.record !== null) await memory.ledger.save(seen.record, ctx);
  } catch (thrown) {
    return fail('journal', toAppError(thrown));
  }
  try {
    await rule.prepare?.(seen.admission.plan, ctx);
  } catch (thrown) {
    return fail('prepare', toAppError(thrown));
  }
  const performed = await perform(seen.admission.plan, { rule, memory, deps, ctx, itemOf: seen.keyed.itemOf });
  if (memory.errors.size > 0) forgetUnplanned(memory, new Set(seen.plan.acts.map(nameOf)));
  await settleDepartures(rule, seen, memory, ctx).catch((thrown: unknown) =>
    deps.log.warn(
      { cycleId, rule: rule.name, error: toAppError(thrown).message },
      'departures could not be acknowledged',
    ),
  );
  const failures = failuresOf(seen.plan, memory);
  return {
    ...cycle(),
    kind: 'completed',
    source: seen.source.kind === 'known' ? { kind: 'known' } : { kind: seen.source.kind, reason: seen.source.reason },
    plan: seen.plan,
    held: heldOf(seen),
    counts: countsOf(seen, performed, failures.length),
    failures,
    againAtMs: againAt(memory, performed, deps.clock.now()),
  };
};
