import { AppError } from '@infrakit/core';
import { describe, expect, it } from 'vitest';
import { virtualClock } from './clock.ts';
import { withDeadline } from './deadline.ts';

const what = 'Instance.describe of disks';
const never = () => new Promise<never>(() => undefined);
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'answered',
    (error: unknown) => (error instanceof AppError ? error.code : error),
  );

describe('withDeadline (Law 10)', () => {
  it('answers as the call does, and leaves no timer', async () => {
    const clock = virtualClock();
    expect(await withDeadline(async () => 7, 100, { what, clock })).toBe(7);
    expect(await withDeadline(() => 8, 100, { what, clock })).toBe(8);
    const rejected = withDeadline(() => Promise.reject(new Error('broken')), 100, { what, clock });
    await expect(rejected).rejects.toThrow('broken');
    const threw = withDeadline(
      () => {
        throw new Error('broken at once');
      },
      100,
      { what, clock },
    );
    await expect(threw).rejects.toThrow('broken at once');
    expect(clock.pending()).toBe(0);
  });

  it('rejects with RPC_TIMEOUT naming what, even if the call ignores its signal', async () => {
    const clock = virtualClock();
    const call = withDeadline(never, 100, { what, clock });
    const outcome = expect(call).rejects.toMatchObject({
      code: 'RPC_TIMEOUT',
      message: 'Instance.describe of disks did not answer within 100 ms',
      facts: { what, timeoutMs: 100 },
    });
    await clock.advance(100);
    await outcome;
    expect(clock.pending()).toBe(0);
  });

  it('waits until the deadline and not less', async () => {
    const clock = virtualClock();
    const call = withDeadline(() => new Promise((resolve) => void clock.after(99, () => resolve('in time'))), 100, {
      what,
      clock,
    });
    await clock.advance(99);
    expect(await call).toBe('in time');
  });

  it('aborts the signal of the call with the error, which wins over what the call makes of it', async () => {
    const clock = virtualClock();
    let reason: unknown;
    const call = withDeadline(
      (signal) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            reason = signal.reason;
            reject(new Error('aborted'));
          });
        }),
      100,
      { what, clock },
    );
    const code = codeOf(call);
    await clock.advance(100);
    expect(await code).toBe('RPC_TIMEOUT');
    expect(reason).toMatchObject({ code: 'RPC_TIMEOUT' });
  });

  it('the abort of the caller rejects with RPC_CANCELLED, its reason as cause, and clears the timer', async () => {
    const clock = virtualClock();
    const parent = new AbortController();
    const lost = new AppError('LEADER_LOST', 'the lease was lost');
    const call = withDeadline(never, 100, { what, clock, signal: parent.signal });
    parent.abort(lost);
    await expect(call).rejects.toMatchObject({ code: 'RPC_CANCELLED', cause: lost, facts: { what } });
    expect(clock.pending()).toBe(0);
  });

  it('does not call when the caller has given up or the deadline has passed', async () => {
    let calls = 0;
    const call = async () => calls++;
    const clock = virtualClock();
    expect(await codeOf(withDeadline(call, 100, { what, clock, signal: AbortSignal.abort() }))).toBe('RPC_CANCELLED');
    expect(await codeOf(withDeadline(call, 0, { what, clock }))).toBe('RPC_TIMEOUT');
    expect(await codeOf(withDeadline(call, Number.NaN, { what, clock }))).toBe('RPC_TIMEOUT');
    expect(calls).toBe(0);
  });

  it('what a call does after its deadline is ignored', async () => {
    const clock = virtualClock();
    const late = (end: () => void) => new Promise<void>((_, reject) => void clock.after(200, () => reject(end())));
    const code = codeOf(withDeadline(() => late(() => undefined), 100, { what, clock }));
    await clock.advance(300);
    expect(await code).toBe('RPC_TIMEOUT');
  });
});
