import type { Clock } from '@infrakit/runtime';

/**
 * Calls `tick` at each whole multiple of `periodMs` after the start, the first a full period after it, until stopped.
 * Times are reckoned from the start, so that delays do not add up; ticks that were missed altogether are left out.
 */
export const ticker = (clock: Clock, periodMs: number, tick: () => void): (() => void) => {
  const startMs = clock.now();
  let count = 0;
  let cancel = (): void => undefined;
  const arm = (): void => {
    count = Math.max(count + 1, Math.ceil((clock.now() - startMs) / periodMs));
    cancel = clock.after(Math.max(0, startMs + count * periodMs - clock.now()), () => {
      arm();
      tick();
    });
  };
  arm();
  return () => cancel();
};
