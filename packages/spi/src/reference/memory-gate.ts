import { AppError } from '@infrakit/core';
import type { CallContext } from '../call-context.ts';

/** The door that each call of a memory implementation goes through, and that a test can shut. */
export interface MemoryGate {
  /** Waits while the gate is shut; `RPC_CANCELLED` as soon as the caller gives up. */
  readonly enter: (ctx: CallContext) => Promise<void>;
  /** Nothing answers until the result is called. */
  readonly stall: () => () => void;
}

const cancelled = (): AppError => new AppError('RPC_CANCELLED', 'the caller gave up');

/** An open gate. */
export const memoryGate = (): MemoryGate => {
  const waiting = new Set<() => void>();
  let stalls = 0;
  const wait = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const leave = (): void => {
        waiting.delete(go);
        signal.removeEventListener('abort', giveUp);
      };
      const go = (): void => {
        leave();
        resolve();
      };
      const giveUp = (): void => {
        leave();
        reject(cancelled());
      };
      waiting.add(go);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  return {
    enter: async ({ signal }) => {
      if (signal.aborted) throw cancelled();
      while (stalls > 0) await wait(signal);
    },
    stall: () => {
      stalls += 1;
      return () => {
        stalls -= 1;
        if (stalls === 0) for (const go of [...waiting]) go();
      };
    },
  };
};
