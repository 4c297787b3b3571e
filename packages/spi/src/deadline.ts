import { AppError } from '@infrakit/core';

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
  if (signal?.aborted) return Promise.reject(new AppError('RPC_CANCELLED', `${what} was cancelled before it began`));
  return new Promise<T>((resolve, reject) => {
    const own = new AbortController();
    let stopTimer: () => void = () => {};
    let stopMaximum: () => void = () => {};
    let isSettled = false;
    const settle = (finish: () => void): void => {
      isSettled = true;
      stopTimer();
      stopMaximum();
      signal?.removeEventListener('abort', cancel);
      finish();
    };
    const fail = (error: AppError): void =>
      settle(() => {
        reject(error);
        own.abort(error);
      });
    const cancel = (): void => fail(new AppError('RPC_CANCELLED', `${what} was cancelled`));
    const expire = (ms: number) => (): void =>
      fail(new AppError('RPC_TIMEOUT', `${what} did not answer within ${ms} ms`, { facts: { timeoutMs: ms } }));
    const extend = (): void => {
      if (isSettled) return;
      stopTimer();
      stopTimer = after(timeoutMs, expire(timeoutMs));
    };
    signal?.addEventListener('abort', cancel, { once: true });
    if (maxTimeoutMs > timeoutMs) stopMaximum = after(maxTimeoutMs, expire(maxTimeoutMs));
    extend();
    new Promise<T>((begin) => begin(work(own.signal, extend))).then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error)),
    );
  });
};
