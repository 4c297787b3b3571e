import type { After } from '@infrakit/spi';

/** Time that a test moves: timers run in order when it passes them, promises settle in between. */
export interface VirtualTime {
  readonly nowMs: () => number;
  readonly after: After;
  readonly advance: (ms: number) => Promise<void>;
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Time that begins at 0. */
export const virtualTime = (): VirtualTime => {
  let now = 0;
  const timers = new Set<{ readonly dueMs: number; readonly run: () => void }>();
  const nextUntil = (endMs: number) =>
    [...timers].filter(({ dueMs }) => dueMs <= endMs).sort((left, right) => left.dueMs - right.dueMs)[0];
  return {
    nowMs: () => now,
    after: (ms, run) => {
      const timer = { dueMs: now + ms, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance: async (ms) => {
      const endMs = now + ms;
      await settle();
      for (let next = nextUntil(endMs); next !== undefined; next = nextUntil(endMs)) {
        timers.delete(next);
        now = next.dueMs;
        next.run();
        await settle();
      }
      now = endMs;
    },
  };
};
