import { AppError } from '@infrakit/core';
import { type After, whenAborted } from '@infrakit/spi';

/** What waits are made with. */
export interface WaitDeps {
  readonly after: After;
  /** Milliseconds. */
  readonly nowMs: () => number;
  /** Ends every wait: the host is to stop. */
  readonly signal: AbortSignal;
}

/** The host was told to stop while it started. */
export const stoppedEarly = (): AppError => new AppError('RPC_CANCELLED', 'stopped before everything was started');

/** Resolves after `ms`. Errors: `RPC_CANCELLED` at once when the signal aborts. */
export const pause = (ms: number, { after, signal }: WaitDeps): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal.aborted) return reject(stoppedEarly());
    const forget = whenAborted(signal, () => {
      stopTimer();
      reject(stoppedEarly());
    });
    const stopTimer = after(ms, () => {
      forget();
      resolve();
    });
  });

/**
 * Calls `attempt` again and again, `everyMs` apart, until it finds something or `timeoutMs` have passed; then it is
 * undefined.
 */
export const untilFound = async <T>(
  attempt: () => Promise<T | undefined>,
  { everyMs, timeoutMs }: { readonly everyMs: number; readonly timeoutMs: number },
  deps: WaitDeps,
): Promise<T | undefined> => {
  const deadlineMs = deps.nowMs() + timeoutMs;
  for (;;) {
    const found = await attempt();
    if (found !== undefined) return found;
    const leftMs = deadlineMs - deps.nowMs();
    if (leftMs <= 0) return undefined;
    await pause(Math.min(everyMs, leftMs), deps);
  }
};
