import {
  type Act,
  type AppError,
  type Departure,
  earliestDue,
  isChange,
  type Plan,
  retainKeys,
  toAppError,
} from '@infrakit/core';
import type { CallContext, Log } from '@infrakit/spi';
import type { Keyed, Rule, Source } from '../rule/rule.ts';
import { bounded, boundsOf } from '../work/bounded.ts';
import type { CycleDeps } from './cycle-deps.ts';
import { type CycleMemory, earliestExpected, forgetUnplanned } from './cycle-memory.ts';
import { type Look, look, withoutRecord } from './look.ts';
import type { Counts, CycleOutcome, Failure, Held } from './outcome.ts';
import { nameOf, type Performed, perform } from './perform.ts';

/** How soon a cycle that acted is followed by a look at what came of it, in ms. */
const confirmMs = 500;

/** What of a look is held, and why. */
export const heldOf = <S>({ admission, record }: Look<S>): Held | null =>
  admission.held === null
    ? null
    : {
        ...admission.held,
        reason:
          record === null
            ? 'the budget record cannot be read or written, so nothing unexplained is destroyed'
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

const toldBy = <S>(source: Source<S>): Extract<CycleOutcome, { kind: 'completed' }>['source'] => {
  if (source.kind === 'known') return { kind: 'known' };
  if (source.kind === 'partial') return { kind: 'partial', reason: source.reason };
  return source;
};

/** Acts of the plan that failed when they were last tried, those that wait to be tried again included. */
const failuresOf = (plan: Plan, memory: CycleMemory): Failure[] =>
  plan.acts.flatMap((act) => {
    const error = isChange(act) ? memory.errors.get(nameOf(act)) : undefined;
    return error === undefined ? [] : [{ act, error }];
  });

/** Whether the entry of somebody who left must stay for now: it will still need its explanation when it may go. */
const isLeaverQuarantined = (departures: readonly Departure[], plan: Plan, keyed: Keyed<unknown>): boolean => {
  if (departures.length === 0) return false;
  const left = new Set(departures.map(({ ID }) => ID));
  const quarantined = new Set(plan.acts.flatMap((act) => (act.kind === 'quarantined' ? [act.id] : [])));
  return keyed.observed.some(({ id, sourceId }) => sourceId !== undefined && left.has(sourceId) && quarantined.has(id));
};

/** Tells the source that nothing which left up to here is left to remove; says it once a revision. */
const settleDepartures = async <S, O>(
  rule: Rule<S, O>,
  { source, plan, keyed }: Look<S>,
  memory: CycleMemory,
  ctx: CallContext,
): Promise<void> => {
  if (rule.settled === undefined || source.kind !== 'known' || source.revision === undefined) return;
  // A lower one is that of another source, or of a source that was made anew: it waits to hear of us too.
  if (source.revision === memory.settledRevision) return;
  if (memory.creating.size + memory.destroying.size + memory.underWay.size > 0) return;
  if (plan.acts.some((act) => act.kind === 'destroy') || isLeaverQuarantined(source.departures ?? [], plan, keyed))
    return;
  await rule.settled(source.revision, ctx);
  memory.settledRevision = source.revision;
};

/**
 * When to see what came of the acts of this cycle, so that a rule is known to have converged long before the resync;
 * undefined when nothing was done, or only what the cycle before did as well: a sink that does not show it must not make
 * the loop spin.
 */
const confirmAt = (memory: CycleMemory, plan: Plan, { done }: Performed, nowMs: number): number | undefined => {
  const before = memory.confirming;
  memory.confirming = done.length === 0 ? null : plan.id;
  return memory.confirming === null || memory.confirming === before ? undefined : nowMs + confirmMs;
};

/**
 * When to look again without being told. Acts under way say themselves when they end, and held ones wait for something
 * else than time: a wait of theirs that is over must not make the loop spin.
 */
const againAt = (memory: CycleMemory, admitted: Plan, performed: Performed, nowMs: number): number | null => {
  if (performed.notBegun > 0) return nowMs;
  const waiting = new Set(memory.backoff.size === 0 ? [] : admitted.acts.filter(isChange).map(nameOf));
  for (const name of memory.underWay.keys()) waiting.delete(name);
  const times = [
    earliestDue(retainKeys(memory.backoff, waiting)),
    earliestExpected(memory),
    confirmAt(memory, admitted, performed, nowMs),
  ];
  const told = times.filter((ms) => ms !== undefined);
  return told.length === 0 ? null : Math.min(...told);
};

/** One line for each cycle that acted, or tried to; what found nothing to do is for whoever looks closely. */
const tellOf = (
  { created, labelled, replaced, destroyed }: Counts,
  { done, failed }: Performed,
  { log, ...facts }: { readonly log: Log; readonly cycleId: string; readonly rule: string; readonly tookMs: number },
): void => {
  if (done.length + failed === 0) log.debug(facts, 'cycle had nothing to do');
  else log.info({ ...facts, created, labelled, replaced, destroyed, failed }, 'cycle acted');
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
  const fail = (at: 'sink' | 'keys' | 'prepare', error: AppError): CycleOutcome => ({
    ...cycle(),
    kind: 'failed',
    at,
    error,
  });

  const boundsFor = (what: string) => boundsOf(rule, deps.clock, what);

  const looked = await look(rule, { memory, deps, ctx });
  if ('at' in looked) return fail(looked.at, looked.error);
  const { record } = looked;
  const isKept =
    record === null ||
    (await bounded((own) => memory.ledger.save(record, own), ctx, boundsFor('saving the budget record')).then(
      () => true,
      (thrown: unknown) => {
        deps.log.warn(
          { cycleId, rule: rule.name, error: toAppError(thrown).message },
          'the budget record is not saved',
        );
        return false;
      },
    ));
  const seen = isKept ? looked : { ...looked, ...withoutRecord(looked.plan) };
  try {
    const { prepare } = rule;
    const { plan } = seen.admission;
    if (prepare !== undefined) await bounded((own) => prepare(plan, own), ctx, boundsFor('preparing the acts'));
  } catch (thrown) {
    return fail('prepare', toAppError(thrown));
  }
  const performed = await perform(seen.admission.plan, { rule, memory, deps, ctx, itemOf: seen.keyed.itemOf });
  if (memory.errors.size > 0) forgetUnplanned(memory, new Set(seen.plan.acts.map(nameOf)));
  await bounded((own) => settleDepartures(rule, seen, memory, own), ctx, boundsFor('acknowledging departures')).catch(
    (thrown: unknown) =>
      deps.log.warn(
        { cycleId, rule: rule.name, error: toAppError(thrown).message },
        'departures could not be acknowledged',
      ),
  );
  const failures = failuresOf(seen.plan, memory);
  const counts = countsOf(seen, performed, failures.length);
  tellOf(counts, performed, {
    log: deps.log,
    cycleId,
    rule: rule.name,
    tookMs: Math.round(deps.clock.now() - startedMs),
  });
  return {
    ...cycle(),
    kind: 'completed',
    source: toldBy(seen.source),
    plan: seen.plan,
    held: heldOf(seen),
    counts,
    failures,
    againAtMs: againAt(memory, seen.admission.plan, performed, deps.clock.now()),
  };
};
