import { interval, Subject, take } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { quiesce } from '../loop/quiesce.ts';
import { schedulerOf, systemClock, virtualClock } from './clock.ts';

describe('virtualClock', () => {
  it('runs what falls due in order of time, then of arming, each at its own moment', async () => {
    const clock = virtualClock(100);
    const calls: [string, number][] = [];
    for (const [name, ms] of [
      ['late', 30],
      ['first', 10],
      ['second', 10],
      ['never', 41],
    ] as const) {
      clock.after(ms, () => calls.push([name, clock.now()]));
    }
    await clock.advance(40);
    expect(calls).toEqual([
      ['first', 110],
      ['second', 110],
      ['late', 130],
    ]);
    expect([clock.now(), clock.pending()]).toEqual([140, 1]);
  });

  it('lets promises settle between timers, and runs what they arm within the span', async () => {
    const clock = virtualClock();
    const at: number[] = [];
    const wait = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve));
    const chain = async () => {
      for (let round = 0; round < 3; round++) {
        await wait(10);
        await Promise.resolve();
        at.push(clock.now());
      }
    };
    void chain();
    await clock.advance(30);
    expect(at).toEqual([10, 20, 30]);
  });

  it('a cancelled timer does not run, one due now runs only when time is moved', async () => {
    const clock = virtualClock();
    const call = vi.fn();
    const cancel = clock.after(5, call);
    clock.after(0, () => cancel());
    expect(clock.pending()).toBe(2);
    await clock.advance(10);
    expect(call).not.toHaveBeenCalled();
  });

  it('a timer that throws rejects the advance', async () => {
    const clock = virtualClock();
    clock.after(1, () => {
      throw new Error('broken timer');
    });
    await expect(clock.advance(1)).rejects.toThrow('broken timer');
  });
});

describe('systemClock', () => {
  it('calls later, once, and not when cancelled', async () => {
    const call = vi.fn();
    systemClock.after(0, call)();
    const before = systemClock.now();
    await new Promise<void>((resolve) => void systemClock.after(2, resolve));
    expect(systemClock.now()).toBeGreaterThan(before);
    expect(call).not.toHaveBeenCalled();
  });

  it('waits of more than 24.8 days neither fire at once nor are lost', () => {
    vi.useFakeTimers();
    try {
      const call = vi.fn();
      const days = 24 * 3_600_000;
      systemClock.after(60 * days, call);
      vi.advanceTimersByTime(60 * days - 1);
      expect(call).not.toHaveBeenCalled();
      vi.advanceTimersByTime(1);
      expect(call).toHaveBeenCalledOnce();
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('schedulerOf', () => {
  it('drives rxjs operators by the clock', async () => {
    const clock = virtualClock();
    const events = new Subject<string>();
    const bursts: [number, string[]][] = [];
    events.pipe(quiesce(30, 50, schedulerOf(clock))).subscribe((burst) => bursts.push([clock.now(), burst]));
    events.next('a');
    await clock.advance(20);
    events.next('b');
    await clock.advance(100);
    expect(bursts).toEqual([[50, ['a', 'b']]]);
    expect(clock.pending()).toBe(0);
  });

  it('an action scheduled again before it is due runs once, at the later time', async () => {
    const clock = virtualClock();
    const at: number[] = [];
    schedulerOf(clock).schedule(function () {
      at.push(clock.now());
      if (at.length === 1) {
        this.schedule(undefined, 10);
        this.schedule(undefined, 20);
      }
    }, 5);
    await clock.advance(100);
    expect(at).toEqual([5, 25]);
  });

  it('repeats an action that schedules itself, and stops it on unsubscribing', async () => {
    const clock = virtualClock();
    const at: number[] = [];
    interval(10, schedulerOf(clock))
      .pipe(take(3))
      .subscribe(() => at.push(clock.now()));
    await clock.advance(100);
    expect(at).toEqual([10, 20, 30]);
    expect(clock.pending()).toBe(0);
  });
});
