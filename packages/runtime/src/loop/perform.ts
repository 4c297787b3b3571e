import {
  type Act,
  AppError,
  digest,
  idempotencyKey,
  isDue,
  type Plan,
  recordFailures,
  recordSuccesses,
  toAppError,
} from '@infrakit/core';
import type { CallContext } from '@infrakit/spi';
import type { Rule } from '../rule/rule.ts';
import { bounded, boundsOf } from '../work/bounded.ts';
import type { CycleDeps } from './cycle-deps.ts';
import type { CycleMemory } from './cycle-memory.ts';

type Doing = Exclude<Act, { kind: 'keep' | 'quarantined' | 'foreign' }>;
type Making = Extract<Doing, { kind: 'create' | 'replace' }>;
type Step = (ctx: CallContext) => Promise<void>;

/** How the acts of a plan ended. */
export interface Performed {
  readonly done: readonly Act[];
  /** Tried in this cycle, in vain. */
  readonly failed: number;
  /** Backing off, or under way since an earlier cycle. */
  readonly deferred: number;
  /** Not ended when the cycle's patience was over; `notBegun` of them come up again in the next one. */
  readonly unfinished: number;
  readonly notBegun: number;
}

/** What the acts of a cycle are done with. */
export interface Performing<S, O> {
  readonly rule: Rule<S, O>;
  readonly memory: CycleMemory;
  readonly deps: CycleDeps;
  readonly ctx: CallContext;
  readonly itemOf: (sourceId: string) => S | undefined;
}

const isAdding = (act: Act): act is Doing => act.kind === 'create' || act.kind === 'label' || act.kind === 'replace';

const isRemoving = (act: Act): act is Doing => act.kind === 'destroy' || (act.kind === 'duplicate' && act.reduce);

/** The name of an act in the backoff table and among the acts under way; each act of a plan has its own. */
export const nameOf = (act: Act): string =>
  act.kind === 'create' || act.kind === 'replace' ? `${act.kind}:${act.key}` : `${act.kind}:${act.id}`;

const create = async <S, O>(act: Making, by: Performing<S, O>, ctx: CallContext): Promise<void> => {
  const { rule, memory, deps } = by;
  const item = by.itemOf(act.sourceId);
  if (item === undefined) throw new AppError('INTERNAL', `the plan names ${act.sourceId}, which the source does not`);
  const key = idempotencyKey(rule.owner, act.key, act.content ?? rule.contentOf(item));
  const id = await rule.create(item, { ...ctx, idempotencyKey: key });
  memory.creating.set(act.key, { id, untilMs: deps.clock.now() + rule.settings.graceMs });
};

const destroy = async <S, O>(
  id: string,
  reason: 'terminate' | 'rolling_update',
  { rule, memory, deps }: Performing<S, O>,
  ctx: CallContext,
): Promise<void> => {
  try {
    await rule.destroy(id, reason, ctx);
  } catch (thrown) {
    if (toAppError(thrown).code !== 'INSTANCE_NOT_FOUND') throw thrown;
  }
  memory.destroying.set(id, deps.clock.now() + rule.settings.graceMs);
};

/** The calls that make up an act; in a replacement the second waits for the first's success (Law 9). */
const stepsOf = <S, O>(act: Doing, by: Performing<S, O>): readonly Step[] => {
  switch (act.kind) {
    case 'create':
      return [(ctx) => create(act, by, ctx)];
    case 'label':
      return [(ctx) => by.rule.label(act.id, act.sourceId, ctx)];
    case 'replace': {
      const make: Step = (ctx) => create(act, by, ctx);
      const remove: Step = (ctx) => destroy(act.id, 'rolling_update', by, ctx);
      return by.rule.settings.order === 'removes-first' ? [remove, make] : [make, remove];
    }
    case 'destroy':
    case 'duplicate':
      return [(ctx) => destroy(act.id, 'terminate', by, ctx)];
    default:
      return act satisfies never;
  }
};

const carryOut = async <S, O>(act: Doing, by: Performing<S, O>, signal: AbortSignal): Promise<void> => {
  const { rule, deps, ctx } = by;
  for (const step of stepsOf(act, by)) {
    await bounded(step, { ...ctx, signal }, boundsOf(rule, deps.clock, act.kind));
  }
};

/** How one act ended; null when the process or the rule is being stopped, which says nothing about the act. */
type Ending = 'done' | 'failed' | null;

/** Digest of the source item that an act makes something from; none of one that JSON cannot say, which is not compared. */
const itemDigest = <S, O>(act: Act, { itemOf }: Performing<S, O>): string | undefined => {
  if (act.kind !== 'create' && act.kind !== 'replace') return undefined;
  try {
    return digest(itemOf(act.sourceId) ?? null);
  } catch {
    return undefined;
  }
};

/** Whether an act may be tried: its wait is over, or what it failed with is not what it would be done with now. */
const mayBeTried = <S, O>(act: Act, by: Performing<S, O>, nowMs: number): boolean => {
  const { backoff, failedWith } = by.memory;
  const name = nameOf(act);
  if (isDue(backoff, name, nowMs)) return true;
  const before = failedWith.get(name);
  if (before === undefined) return false;
  const now = itemDigest(act, by);
  return now !== undefined && now !== before;
};

/** One act to its end, its error remembered. */
const attempt = async <S, O>(act: Doing, by: Performing<S, O>, signal: AbortSignal): Promise<Ending> => {
  const { memory, ctx } = by;
  const name = nameOf(act);
  memory.underWay.set(name, act);
  try {
    await carryOut(act, by, signal);
    memory.errors.delete(name);
    memory.failedWith.delete(name);
    return 'done';
  } catch (thrown) {
    if (ctx.signal.aborted) return null;
    memory.errors.set(name, toAppError(thrown));
    const failedWith = itemDigest(act, by);
    if (failedWith !== undefined) memory.failedWith.set(name, failedWith);
    return 'failed';
  } finally {
    memory.underWay.delete(name);
  }
};

/** Lets failed acts back off one by one and forgets the failures of those done: one copy of the table for all of them. */
const recordEndings = <S, O>(endings: ReadonlyMap<Doing, Ending>, { memory, deps }: Performing<S, O>): void => {
  const failed: string[] = [];
  const recovered: string[] = [];
  for (const [act, ending] of endings) {
    const name = nameOf(act);
    if (ending === 'failed') failed.push(name);
    else if (ending === 'done' && memory.backoff.has(name)) recovered.push(name);
  }
  if (recovered.length > 0) memory.backoff = recordSuccesses(memory.backoff, recovered);
  if (failed.length > 0) {
    memory.backoff = recordFailures(memory.backoff, failed, { now: deps.clock.now(), random: deps.random });
  }
};

const idle: Performed = { done: [], failed: 0, deferred: 0, unfinished: 0, notBegun: 0 };

const phase = async <S, O>(acts: readonly Doing[], by: Performing<S, O>): Promise<Performed> => {
  if (acts.length === 0) return idle;
  const { rule, memory, deps, ctx } = by;
  const nowMs = deps.clock.now();
  const due = acts.filter((act) => mayBeTried(act, by, nowMs) && !memory.underWay.has(nameOf(act)));
  const endings = new Map<Doing, Ending>();
  let begun = 0;
  let isOver = false;

  const run = async (act: Doing): Promise<void> => {
    const task = async (signal: AbortSignal): Promise<void> => {
      if (isOver) return;
      begun += 1;
      const ending = await attempt(act, by, signal);
      if (!isOver) endings.set(act, ending);
      else {
        recordEndings(new Map([[act, ending]]), by);
        deps.wake();
      }
    };
    // Cancelled by the end of the rule or of the process, which ends the cycle as well.
    await deps.pool.run(rule.name, task, { signal: ctx.signal }).catch(() => undefined);
  };

  let stopWaiting = (): void => undefined;
  const patience = new Promise<void>((resolve) => {
    stopWaiting = deps.clock.after(deps.patienceMs, resolve);
  });
  await Promise.race([Promise.all(due.map(run)), patience]);
  stopWaiting();
  isOver = true;
  recordEndings(endings, by);
  const done = due.filter((act) => endings.get(act) === 'done');
  return {
    done,
    failed: [...endings.values()].filter((ending) => ending === 'failed').length,
    deferred: acts.length - due.length,
    unfinished: due.length - endings.size,
    notBegun: due.length - begun,
  };
};

const both = (first: Performed, second: Performed): Performed => ({
  done: [...first.done, ...second.done],
  failed: first.failed + second.failed,
  deferred: first.deferred + second.deferred,
  unfinished: first.unfinished + second.unfinished,
  notBegun: first.notBegun + second.notBegun,
});

/**
 * Acts out a plan (Law 9): adds before removes or the other way round, each act with its deadline on the shared pool,
 * one that failed backing off by itself. Each phase waits for its acts no longer than `patienceMs`: what is then not begun
 * is left to the next cycle, which looks again first; what hangs goes on alone and holds up nobody (Law 5). The second
 * phase begins only when every due act of the first was begun.
 */
export const perform = async <S, O>(plan: Plan, by: Performing<S, O>): Promise<Performed> => {
  const adds = plan.acts.filter(isAdding);
  const removes = plan.acts.filter(isRemoving);
  const [first, second] = by.rule.settings.order === 'removes-first' ? [removes, adds] : [adds, removes];
  const before = await phase(first, by);
  if (before.notBegun === 0) return both(before, await phase(second, by));
  return both(before, { ...idle, unfinished: second.length, notBegun: second.length });
};
