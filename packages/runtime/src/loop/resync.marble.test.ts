import { NEVER, take } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../work/random.ts';
import { resync } from './resync.ts';

const marbles = () => new TestScheduler((actual, expected) => expect(actual).toEqual(expected));
const ticks = { '0': 0, '1': 1, '2': 2 };
const plain = { jitter: 0, random: () => 0 };

describe('resync: issue 2, marble tests', () => {
  it('ticks every interval, first after one', () => {
    marbles().run(({ expectObservable }) => {
      expectObservable(resync(4, plain), '^------------!').toBe('----0---1---2', ticks);
    });
  });

  it('jitter brings a tick forward, and later ticks count from it', () => {
    const draws = [0.5, 0, 1];
    const random = () => draws.shift() ?? 0;
    marbles().run(({ expectObservable }) => {
      expectObservable(resync(10, { jitter: 0.4, random }), '^----------------------------!').toBe(
        '--------0---------1-----2---',
        ticks,
      );
    });
  });

  it('jitter never makes the time between ticks longer than the interval', () => {
    const scheduler = marbles();
    scheduler.run(({ flush }) => {
      const at: number[] = [0];
      resync(1_000, { jitter: 0.2, random: seededRandom(7), scheduler })
        .pipe(take(500))
        .subscribe(() => at.push(scheduler.now()));
      flush();
      const gaps = at.slice(1).map((time, index) => time - (at[index] ?? 0));
      expect(Math.max(...gaps)).toBeLessThanOrEqual(1_000);
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(800);
      expect(new Set(gaps).size).toBeGreaterThan(50);
    });
  });

  it('a live trigger restarts the wait: the tick comes after it', () => {
    marbles().run(({ hot, expectObservable }) => {
      const live = hot('--t-------');
      expectObservable(resync(4, { ...plain, live, latestMs: 8 }), '^---------!').toBe('------0---', ticks);
    });
  });

  it('a steady stream of live triggers never starves it: latestMs bounds the wait', () => {
    marbles().run(({ hot, expectObservable }) => {
      const live = hot('t-t-t-t-t-t-t-t-t-t-t-t-t');
      expectObservable(resync(4, { ...plain, live, latestMs: 8 }), '^-----------------!').toBe(
        '--------0-------1--',
        ticks,
      );
    });
  });

  it('by default the interval holds, whatever comes live', () => {
    marbles().run(({ hot, expectObservable }) => {
      const live = hot('t-t-t-t-t-t-t-t-t-t-t-t-t');
      expectObservable(resync(4, { jitter: 0.5, random: () => 1, live }), '^--------!').toBe('----0---1-', ticks);
    });
  });

  it('a live trigger in the tick of the resync moves nothing twice: one tick, then one wait', () => {
    marbles().run(({ hot, expectObservable }) => {
      const live = hot('----t-----');
      expectObservable(resync(4, { ...plain, live }), '^---------!').toBe('----0---1-', ticks);
    });
  });

  it('goes on after live completes, passes the error of live at once', () => {
    marbles().run(({ hot, expectObservable }) => {
      expectObservable(resync(4, { ...plain, live: hot('-t|'), latestMs: 8 }), '^---------!').toBe('-----0---1', ticks);
      expectObservable(resync(4, { ...plain, live: hot('-t#') })).toBe('--#');
    });
  });

  it('unsubscribing, at once or from a tick, stops the timers and live', () => {
    const scheduler = marbles();
    scheduler.run(({ hot, expectObservable, expectSubscriptions, flush }) => {
      const live = hot('t---------');
      expectObservable(resync(4, { ...plain, live, scheduler }), '^-!').toBe('---');
      expectSubscriptions(live.subscriptions).toBe('^-!');
      expectObservable(resync(4, { ...plain, live: NEVER, scheduler }).pipe(take(1))).toBe('----(0|)', ticks);
      flush();
      expect(scheduler.actions.filter((action) => !action.closed)).toEqual([]);
    });
  });
});
