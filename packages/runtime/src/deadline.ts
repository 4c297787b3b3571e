import { AppError } from '@infrakit/core';
import { type Clock, systemClock } from './clock.ts';
import { whenAborted } from './when-aborted.ts';

/** What {@link withDeadline} waits for, and how. */
export interface DeadlineOptions {
  /** What is awaited, as the subject of the error's sentence: `Instance.describe of disks`. */
  readonly what: string;
  readonly clock?: Clock;
  /** The caller's own signal: its abort ends the wait with `RPC_CANCELLED`. */
  readonly signal?: AbortSignal;
}

/**
 * Waits for `call` no longer than `timeoutMs`, even if it ignores its signal (Law 10).
 *
 * Rejects with `RPC_TIMEOUT` naming what was awaited, with `RPC_CANCELLED` when the caller's signal aborts (the reason
 * is the cause), or as `call` does. On the first two the signal of `call` is aborted with that error, and what it does
 * later is ignored. A caller already aborted, or a deadline not in the future, rejects without a call.
 */
export const withDeadline = <T>(
  call: (signal: AbortSignal) => T | PromiseLike<T>,
  timeoutMs: number,
  { what, clock = systemClock, signal: parent }: DeadlineOptions,
): Promise<T> =>
  new Promise((resolve, reject) => {
    const timedOut = (): AppError =>
      new AppError('RPC_TIMEOUT', `${what} did not answer within ${timeoutMs} ms`, { facts: { what, timeoutMs } });
    const cancelled = (): AppError =>
      new AppError('RPC_CANCELLED', `${what} was cancelled`, { facts: { what }, cause: parent?.reason });
    if (parent?.aborted) return reject(cancelled());
    if (!(timeoutMs > 0)) return reject(timedOut());

    const controller = new AbortController();
    const release = (): void => {
      stopTimer();
      forget?.();
    };
    // Rejects before it aborts: a call that answers its signal at once must not hide the reason.
    const give = (error: AppError): void => {
      release();
      reject(error);
      controller.abort(error);
    };
    const stopTimer = clock.after(timeoutMs, () => give(timedOut()));
    const forget = parent && whenAborted(parent, () => give(cancelled()));

    const settled = new Promise<T>((done) => done(call(controller.signal)));
    settled.finally(release).then(resolve, reject);
  });
