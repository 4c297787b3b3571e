import { type SchedulerAction, type SchedulerLike, Subscription } from 'rxjs';

/** Time as an argument: what the time is, and to be called later. */
export interface Clock {
  /** Milliseconds since the epoch; never goes backwards. */
  now(): number;
  /** Calls `call` once, `ms` from now, never before this call has returned; the result cancels it. */
  after(ms: number, call: () => void): () => void;
}

const longestTimeoutMs = 2 ** 31 - 1;

/**
 * The machine's time. `now` is the wall time at the start of the process, counted on by the monotonic clock: a wall
 * clock that is stepped neither freezes nor fires a wait. Waits longer than Node's 24.8 days are made in pieces.
 */
export const systemClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  after: (ms, call) => {
    let timer: NodeJS.Timeout;
    const arm = (leftMs: number): void => {
      const pieceMs = Math.min(leftMs, longestTimeoutMs);
      timer = setTimeout(() => (leftMs > pieceMs ? arm(leftMs - pieceMs) : call()), pieceMs);
    };
    arm(ms);
    return () => clearTimeout(timer);
  },
};

/** A clock that stands still until a test moves it. */
export interface VirtualClock extends Clock {
  /**
   * Moves time by `ms`. Runs what falls due in order of time, then of arming, at its own moment, and lets promises
   * settle before, between and after; what they arm within the span runs too. A timer that throws rejects.
   * Real I/O is not waited for. One call at a time.
   */
  advance(ms: number): Promise<void>;
  /** How many timers are armed. */
  pending(): number;
}

interface Timer {
  readonly dueMs: number;
  readonly call: () => void;
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A {@link VirtualClock} that starts at `startMs`. */
export const virtualClock = (startMs = 0): VirtualClock => {
  let nowMs = startMs;
  const timers: Timer[] = [];
  return {
    now: () => nowMs,
    after: (ms, call) => {
      const timer: Timer = { dueMs: nowMs + Math.max(0, ms), call };
      const later = timers.findLastIndex((other) => other.dueMs <= timer.dueMs);
      timers.splice(later + 1, 0, timer);
      return () => {
        const index = timers.indexOf(timer);
        if (index >= 0) timers.splice(index, 1);
      };
    },
    advance: async (ms) => {
      const endMs = nowMs + ms;
      await settle();
      for (let next = timers[0]; next !== undefined && next.dueMs <= endMs; next = timers[0]) {
        timers.shift();
        nowMs = next.dueMs;
        next.call();
        await settle();
      }
      nowMs = endMs;
    },
    pending: () => timers.length,
  };
};

/** A clock as an rxjs scheduler, so that operators keep the same time as everything else of a loop. */
export const schedulerOf = (clock: Clock): SchedulerLike => ({
  now: () => clock.now(),
  schedule: <T>(work: (this: SchedulerAction<T>, state: T) => void, delayMs = 0, state?: T): Subscription => {
    let cancel = (): void => undefined;
    const action: SchedulerAction<T> = Object.assign(new Subscription(), {
      schedule: (next?: T, againMs = 0): Subscription => {
        cancel();
        if (!action.closed) cancel = clock.after(againMs, () => work.call(action, next as T));
        return action;
      },
    });
    action.add(() => cancel());
    return action.schedule(state, delayMs);
  },
});
