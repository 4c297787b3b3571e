import { AppError } from '@infrakit/core';
import { whenAborted } from './when-aborted.ts';

/** Starts a one-shot timer of `ms` milliseconds and answers how to stop it. */
export type After = (ms: number, run: () => void) => () => void;

/** The timer that deadlines are measured with. */
export interface DeadlineDeps {
  readonly after: After;
}

/** How long a piece of work may take. */
export interface DeadlineOptions extends DeadlineDeps {
  /** Named in the error. */
  readonly what: string;
  readonly timeoutMs: number;
  /** The most that `extend` can stretch it to, from the start; `timeoutMs` when left out. */
  readonly maxTimeoutMs?: number;
  /** The caller's own wish to stop. */
  readonly signal?: AbortSignal;
}

/**
 * Runs `work` with a deadline (Law 10): `RPC_TIMEOUT` when it passes, `RPC_CANCELLED` when the caller's signal aborts,
 * at once in both cases, even if the work ignores its own signal. `extend` starts the time anew, up to the maximum.
 */
export const withDeadline = <T>(
  work: (signal: AbortSignal, extend: () => void) => Promise<T>,
  options: DeadlineOptions,
): Promise<T> => {
  const { after, what, timeoutMs, maxTimeoutMs = timeoutMs, signal } = options;
  const cancelled = (): AppError => new AppError('RPC_CANCELLED', `${what} was cancelled`, { cause: signal?.reason });
  const late = (ms: number): AppError =>
    new AppError('RPC_TIMEOUT', `${what} did not answer within ${ms} ms`, { facts: { timeoutMs: ms } });
  if (signal?.aborted) return Promise.reject(cancelled());
  if (!(timeoutMs > 0)) return Promise.reject(late(timeoutMs));
  return new Promise<T>((resolve, reject) => {
    const own = new AbortController();
    let stopTimer: () => void = () => {};
    let stopMaximum: () => void = () => {};
    let isSettled = false;
    const forget = signal === undefined ? () => undefined : whenAborted(signal, () => fail(cancelled()));
    const settle = (finish: () => void): void => {
      isSettled = true;
      stopTimer();
      stopMaximum();
      forget();
      finish();
    };
    const fail = (error: AppError): void =>
      settle(() => {
        reject(error);
        own.abort(error);
      });
    const extend = (): void => {
      if (isSettled) return;
      stopTimer();
      stopTimer = after(timeoutMs, () => fail(late(timeoutMs)));
    };
    const canStretch = maxTimeoutMs > timeoutMs;
    if (canStretch) stopMaximum = after(maxTimeoutMs, () => fail(late(maxTimeoutMs)));
    extend();
    new Promise<T>((begin) => begin(work(own.signal, canStretch ? extend : () => undefined))).then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error)),
    );
  });
};
