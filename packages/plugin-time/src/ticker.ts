import type { Clock } from '@infrakit/runtime';

export interface Ticks {
  readonly periodMs: number;
  readonly tick: () => void;
  /** Asked at each tick; when nobody hears it there is none, and no other before `restMs` are over. */
  readonly isHeard: () => boolean;
  readonly restMs: number;
}

/**
 * Ticks at whole multiples of the period after the start, the first a full period after it, until stopped. Times are reckoned
 * from the start, so that delays do not add up; ticks that were missed altogether are left out.
 */
export const ticker = (clock: Clock, { periodMs, tick, isHeard, restMs }: Ticks): (() => void) => {
  const startMs = clock.now();
  let count = 0;
  let cancel = (): void => undefined;
  const arm = (waitMs: number): void => {
    count = Math.max(count + 1, Math.ceil((clock.now() + waitMs - startMs) / periodMs));
    cancel = clock.after(Math.max(0, startMs + count * periodMs - clock.now()), () => {
      const isWanted = isHeard();
      arm(isWanted ? 0 : restMs);
      if (isWanted) tick();
    });
  };
  arm(0);
  return () => cancel();
};
