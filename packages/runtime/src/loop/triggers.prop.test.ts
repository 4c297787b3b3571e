import * as fc from 'fast-check';
import { concatMap, EMPTY, type Observable, Subject, timer, VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { coalesce } from './coalesce.ts';
import { quiesce } from './quiesce.ts';

interface Trigger {
  readonly id: number;
  readonly at: number;
}
interface Cycle {
  readonly triggers: readonly Trigger[];
  readonly startedAt: number;
}

/** Sends triggers at their times (ms) through quiesce and coalesce; cycles take `cycleMs`, 0 completes at once. */
const play = (at: readonly number[], window: { quietMs: number; maxWaitMs: number }, cycleMs: number) => {
  const scheduler = new VirtualTimeScheduler();
  const sent = new Subject<Trigger>();
  const bursts: { triggers: readonly Trigger[]; closedAt: number }[] = [];
  const cycles: Cycle[] = [];
  let running = 0;
  let mostRunning = 0;
  let isDone = false;

  const cycle = (burst: Trigger[]): Observable<never> => {
    cycles.push({ triggers: burst, startedAt: scheduler.now() });
    mostRunning = Math.max(mostRunning, ++running);
    const end = (): Observable<never> => {
      running--;
      return EMPTY;
    };
    return cycleMs === 0 ? end() : timer(cycleMs, scheduler).pipe(concatMap(end));
  };
  const gathered = new Subject<Trigger[]>();
  gathered.subscribe((triggers) => bursts.push({ triggers, closedAt: scheduler.now() }));
  gathered.pipe(coalesce(cycle)).subscribe({ complete: () => (isDone = true) });
  sent.pipe(quiesce(window.quietMs, window.maxWaitMs, scheduler)).subscribe(gathered);

  const triggers = at.map((time, id): Trigger => ({ id, at: time }));
  // One at a time: the scheduler sorts all that is scheduled at each call.
  const sendFrom = (index: number): void => {
    const trigger = triggers[index];
    if (trigger === undefined) return;
    const send = (): void => {
      sent.next(trigger);
      sendFrom(index + 1);
    };
    scheduler.schedule(send, trigger.at - scheduler.now());
  };
  sendFrom(0);
  scheduler.schedule(() => sent.complete(), 1_000_000);
  scheduler.flush();
  return { triggers, bursts, cycles, mostRunning, isDone };
};

const arrivals = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 2_000 })), { maxLength: 80 })
  .map((gaps) => {
    let now = 0;
    return gaps.map((gap) => {
      now += gap;
      return now;
    });
  });
const windows = fc.record({ quietMs: fc.integer({ min: 1, max: 300 }), maxWaitMs: fc.integer({ min: 1, max: 900 }) });
const cycleTimes = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 1_500 }));

describe('quiesce and coalesce together (issue 2)', () => {
  it('quiesce loses, doubles and reorders nothing, and closes each burst in time', () => {
    fc.assert(
      fc.property(arrivals, windows, (at, window) => {
        const { triggers, bursts } = play(at, window, 0);
        expect(bursts.flatMap((burst) => burst.triggers)).toEqual(triggers);
        for (const { triggers: burst, closedAt } of bursts) {
          const first = burst[0]?.at ?? Number.NaN;
          const last = burst.at(-1)?.at ?? Number.NaN;
          expect(closedAt).toBe(Math.min(last + window.quietMs, first + window.maxWaitMs));
        }
      }),
    );
  });

  it('Law 8: no trigger is lost: a cycle begins after each, within maxWait and the rest of one cycle', () => {
    fc.assert(
      fc.property(arrivals, windows, cycleTimes, (at, window, cycleMs) => {
        const { triggers, cycles, mostRunning, isDone } = play(at, window, cycleMs);
        for (const trigger of triggers) {
          const next = cycles.find(
            ({ startedAt, triggers: seen }) => startedAt >= trigger.at && seen.some(({ id }) => id >= trigger.id),
          );
          expect(next?.startedAt).toBeLessThanOrEqual(trigger.at + window.maxWaitMs + cycleMs);
        }
        expect(mostRunning).toBeLessThanOrEqual(1);
        expect(cycles.at(-1)?.triggers.at(-1)).toEqual(triggers.at(-1));
        expect(isDone).toBe(true);
      }),
    );
  });

  it('10,000 triggers in 10 s are at most ceil(10 / maxWait) + 1 cycles, however they are spread and however long cycles take', () => {
    const spread = fc.array(fc.integer({ min: 0, max: 9_999 }), { minLength: 500, maxLength: 500 });
    fc.assert(
      fc.property(spread, fc.integer({ min: 200, max: 5_000 }), cycleTimes, (extra, maxWaitMs, cycleMs) => {
        const at = [...Array.from({ length: 9_500 }, (_, n) => Math.floor(n / 0.95)), ...extra].sort((a, b) => a - b);
        const { cycles } = play(at, { quietMs: 100, maxWaitMs }, cycleMs);
        expect(cycles.length).toBeLessThanOrEqual(Math.ceil(10_000 / maxWaitMs) + 1);
        expect(cycles.length).toBeGreaterThan(0);
      }),
      { numRuns: 20 },
    );
  });

  it('10,000 triggers, one a millisecond, with maxWait 1 s are a cycle a second: a steady stream starves nothing', () => {
    const at = Array.from({ length: 10_000 }, (_, n) => n);
    const { cycles } = play(at, { quietMs: 100, maxWaitMs: 1_000 }, 0);
    expect(cycles.map(({ startedAt }) => Math.round(startedAt / 100))).toEqual([
      10, 20, 30, 40, 50, 60, 70, 80, 90, 100,
    ]);
  });

  it('an isolated trigger acts after quiet', () => {
    const { cycles } = play([500], { quietMs: 50, maxWaitMs: 1_000 }, 10);
    expect(cycles).toEqual([{ triggers: [{ id: 0, at: 500 }], startedAt: 550 }]);
  });
});
