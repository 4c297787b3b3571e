import { asyncScheduler, NEVER, Observable, type SchedulerLike, type Subscription } from 'rxjs';
import { type Random, systemRandom } from '../work/random.ts';

/** How {@link resync} spreads and postpones its ticks. */
export interface ResyncOptions {
  /** The part of the interval by which a tick may come early, 0 … 1: many rules do not tick together. Default 0.1. */
  readonly jitter?: number;
  /** Live triggers: each restarts the wait, since a cycle is about to look anyway. Default: none. */
  readonly live?: Observable<unknown>;
  /** The latest tick after the one before, however many live triggers come, in ms. Default: the interval. */
  readonly latestMs?: number;
  readonly random?: Random;
  readonly scheduler?: SchedulerLike;
}

/**
 * Ticks 0, 1, 2, … that ask for a full cycle every `intervalMs` (> 0), each early by a random part of `jitter`: after
 * live triggers, but never starved by them (DESIGN §4). By default live triggers move a tick only within its jitter,
 * so the interval holds; a larger `latestMs` saves cycles while live triggers keep a rule fresh.
 *
 * The first tick comes after one wait. Never completes; a `live` that completes no longer postpones, one that fails
 * passes its error. Unsubscribing stops the timers. A stepped wall clock changes nothing.
 */
export const resync = (intervalMs: number, options: ResyncOptions = {}): Observable<number> =>
  new Observable((subscriber) => {
    const { jitter = 0.1, live = NEVER, latestMs = intervalMs } = options;
    const { random = systemRandom, scheduler = asyncScheduler } = options;
    let count = 0;
    let wait: Subscription | undefined;
    let limit: Subscription | undefined;

    const disarm = (): void => {
      wait?.unsubscribe();
      limit?.unsubscribe();
    };
    const tick = (): void => {
      arm();
      subscriber.next(count++);
    };
    const restart = (): void => {
      wait?.unsubscribe();
      wait = scheduler.schedule(tick, intervalMs * (1 - jitter * random()));
    };
    const arm = (): void => {
      disarm();
      restart();
      limit = scheduler.schedule(tick, latestMs);
    };

    subscriber.add(disarm);
    arm();
    subscriber.add(live.subscribe({ next: restart, error: (error: unknown) => subscriber.error(error) }));
  });
