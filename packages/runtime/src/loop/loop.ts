import { exponentialBackoff } from '@infrakit/core';
import {
  defer,
  EMPTY,
  merge,
  NEVER,
  type Observable,
  of,
  Subject,
  share,
  switchMap,
  takeUntil,
  tap,
  timer,
} from 'rxjs';
import type { Rule } from '../rule/rule.ts';
import { schedulerOf } from '../work/clock.ts';
import { coalesce } from './coalesce.ts';
import type { CycleDeps } from './cycle-deps.ts';
import type { CycleMemory } from './cycle-memory.ts';
import type { CycleOutcome } from './outcome.ts';
import { quiesce } from './quiesce.ts';
import { reconcile } from './reconcile.ts';
import { resync } from './resync.ts';

/** When a loop looks, in ms (DESIGN §4). */
export interface LoopTiming {
  /** A burst of triggers closes after this much silence… */
  readonly quietMs: number;
  /** … or this long after its first trigger. */
  readonly maxWaitMs: number;
  /** A full cycle at least this often. */
  readonly syncIntervalMs: number;
}

/** Whether a cycle could read both sides. A source that says that it does not know was read. */
const couldLook = (outcome: CycleOutcome): boolean =>
  outcome.kind === 'completed' && !(outcome.source.kind === 'unknown' && outcome.source.error !== undefined);

/**
 * Keeps one rule: a cycle at once, one after each burst of triggers, one at each resync, one when something left for
 * later is due, and one after a cycle that failed or could not read its source, which backs off as items do. One cycle at
 * a time; triggers during one make exactly one more (Law 8). Emits the outcome of each cycle and never errors. Completes after the cycle in progress when
 * `stop` emits; unsubscribing aborts that cycle.
 */
export const loop = <S, O>(
  rule: Rule<S, O>,
  use: {
    readonly memory: CycleMemory;
    readonly deps: Omit<CycleDeps, 'wake'>;
    readonly timing: LoopTiming;
    readonly stop?: Observable<unknown>;
  },
  triggers: Observable<unknown>,
): Observable<CycleOutcome> =>
  defer(() => {
    const { memory, timing } = use;
    const { clock, random } = use.deps;
    const scheduler = schedulerOf(clock);
    const again = new Subject<number | null>();
    const woken = new Subject<void>();
    const deps: CycleDeps = { ...use.deps, wake: () => woken.next() };

    const bursts = merge(triggers, woken).pipe(quiesce(timing.quietMs, timing.maxWaitMs, scheduler), share());
    const later = again.pipe(
      switchMap((atMs) => (atMs === null ? EMPTY : timer(Math.max(0, atMs - clock.now()), scheduler))),
    );
    const ticks = resync(timing.syncIntervalMs, { random, scheduler, live: bursts });

    let failures = 0;
    const againAt = (outcome: CycleOutcome): number | null => {
      const askedMs = outcome.kind === 'failed' ? null : outcome.againAtMs;
      failures = couldLook(outcome) ? 0 : failures + 1;
      if (failures === 0) return askedMs;
      const retryMs = clock.now() + exponentialBackoff(failures, random);
      return askedMs === null ? retryMs : Math.min(askedMs, retryMs);
    };

    const cycle = (): Observable<CycleOutcome> =>
      defer(() => {
        // What was asked of a later cycle is asked of this one; its outcome says what is still to come.
        again.next(null);
        const abort = new AbortController();
        return defer(() => memory.exclusive(() => reconcile(rule, { memory, deps, signal: abort.signal }))).pipe(
          tap({ unsubscribe: () => abort.abort() }),
        );
      });

    return merge(of(null), bursts, later, ticks).pipe(
      takeUntil(use.stop ?? NEVER),
      coalesce(cycle),
      tap((outcome) => again.next(againAt(outcome))),
    );
  });
