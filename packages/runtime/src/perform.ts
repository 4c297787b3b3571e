import { type Act, type AppError, idempotencyKey, type Plan, toAppError } from '@infrakit/core';
import { type CallContext, withDeadline } from '@infrakit/spi';
import { isDue, recordFailures, recordSuccesses } from './backoff.ts';
import type { CycleDeps } from './cycle-deps.ts';
import type { CycleMemory } from './cycle-memory.ts';
import type { Failure } from './outcome.ts';
import type { Rule } from './rule.ts';

type Doing = Exclude<Act, { kind: 'keep' | 'quarantined' | 'foreign' }>;

/** How the acts of a plan ended. `unfinished` acts are still under way, or were not begun; both come up again. */
export interface Performed {
  readonly done: readonly Act[];
  readonly failures: readonly Failure[];
  readonly deferred: number;
  readonly unfinished: number;
}

const isAdding = (act: Act): act is Doing => act.kind === 'create' || act.kind === 'label' || act.kind === 'replace';

const isRemoving = (act: Act): act is Doing => act.kind === 'destroy' || (act.kind === 'duplicate' && act.reduce);

/** The name of an act in the backoff table and among the acts under way; each act of a plan has its own. */
export const nameOf = (act: Act): string =>
  act.kind === 'create' || act.kind === 'replace' ? `${act.kind}:${act.key}` : `${act.kind}:${act.id}`;

const isGone = (error: AppError): boolean => error.code === 'INSTANCE_NOT_FOUND';

/**
 * Acts out a plan (Law 9): adds before removes or the other way round, each act with its deadline on the shared pool,
 * one that failed backing off by itself. A phase waits for its acts no longer than `patienceMs`: what is then not begun is
 * left to the next cycle, which looks again first; what hangs goes on alone and holds up nobody (Law 5).
 */
export const perform = async <S, O>(
  plan: Plan,
  itemOf: (sourceId: string) => S | undefined,
  cycle: {
    readonly rule: Rule<S, O>;
    readonly memory: CycleMemory;
    readonly deps: CycleDeps;
    readonly ctx: CallContext;
  },
): Promise<Performed> => {
  const { rule, memory, deps, ctx } = cycle;
  const { settings } = rule;
  const done: Act[] = [];
  const failures: Failure[] = [];
  let deferred = 0;
  let unfinished = 0;

  const create = async (act: Doing & { sourceId: string; key: string }, callCtx: CallContext): Promise<void> => {
    const item = itemOf(act.sourceId);
    if (item === undefined) return;
    const content = ('content' in act ? act.content : undefined) ?? rule.contentOf(item);
    const key = idempotencyKey(rule.owner, act.key, content);
    const id = await rule.create(item, { ...callCtx, idempotencyKey: key });
    memory.creating.set(act.key, { id, untilMs: deps.clock.now() + settings.graceMs });
  };

  const destroy = async (id: string, reason: 'terminate' | 'rolling_update', callCtx: CallContext): Promise<void> => {
    try {
      await rule.destroy(id, reason, callCtx);
    } catch (thrown) {
      if (!isGone(toAppError(thrown))) throw thrown;
    }
    memory.destroying.set(id, deps.clock.now() + settings.graceMs);
  };

  const steps = (act: Doing): ((callCtx: CallContext) => Promise<void>)[] => {
    switch (act.kind) {
      case 'create':
        return [(callCtx) => create(act, callCtx)];
      case 'label':
        return [(callCtx) => rule.label(act.id, act.sourceId, callCtx)];
      case 'replace': {
        const both = [
          (callCtx: CallContext) => create(act, callCtx),
          (callCtx: CallContext) => destroy(act.id, 'rolling_update', callCtx),
        ];
        return settings.order === 'removes-first' ? both.reverse() : both;
      }
      case 'destroy':
      case 'duplicate':
        return [(callCtx) => destroy(act.id, 'terminate', callCtx)];
      default:
        return act satisfies never;
    }
  };

  const run = (act: Doing, signal: AbortSignal): Promise<void> =>
    steps(act).reduce(
      (before, step) =>
        before.then(() =>
          withDeadline((own) => step({ ...ctx, signal: own, timeoutMs: settings.callTimeoutMs }), {
            after: deps.clock.after,
            what: `${act.kind} of ${rule.name}`,
            timeoutMs: settings.callTimeoutMs,
            signal,
          }),
        ),
      Promise.resolve(),
    );

  const phase = async (acts: readonly Doing[]): Promise<boolean> => {
    let isOver = false;
    let begun = 0;
    const start = async (act: Doing): Promise<void> => {
      const name = nameOf(act);
      await deps.pool
        .run(
          rule.name,
          async (signal) => {
            if (isOver) return;
            begun += 1;
            memory.underWay.set(name, act);
            try {
              await run(act, signal);
              if (memory.backoff.has(name)) memory.backoff = recordSuccesses(memory.backoff, [name]);
              done.push(act);
            } catch (thrown) {
              const error = toAppError(thrown);
              if (!ctx.signal.aborted) {
                memory.backoff = recordFailures(memory.backoff, [name], { now: deps.clock.now(), random: deps.random });
              }
              failures.push({ act, error });
            } finally {
              memory.underWay.delete(name);
              if (isOver) deps.wake();
            }
          },
          { signal: ctx.signal },
        )
        .catch((thrown: unknown) => {
          failures.push({ act, error: toAppError(thrown) });
        });
    };
    const due = acts.filter(
      (act) => isDue(memory.backoff, nameOf(act), deps.clock.now()) && !memory.underWay.has(nameOf(act)),
    );
    deferred += acts.length - due.length;
    const settledBefore = done.length + failures.length;
    let stopWaiting: () => void = () => {};
    const patience = new Promise<void>((resolve) => {
      stopWaiting = deps.clock.after(deps.patienceMs, resolve);
    });
    await Promise.race([Promise.all(due.map(start)), patience]);
    stopWaiting();
    isOver = true;
    unfinished += due.length - (done.length + failures.length - settledBefore);
    return begun === due.length;
  };

  const adds = plan.acts.filter(isAdding);
  const removes = plan.acts.filter(isRemoving);
  const [first, second] = settings.order === 'removes-first' ? [removes, adds] : [adds, removes];
  const allBegun = await phase(first);
  if (allBegun) await phase(second);
  else unfinished += second.length;
  return { done: [...done], failures: [...failures], deferred, unfinished };
};
