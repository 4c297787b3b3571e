import { AppError } from '@infrakit/core';

/** What may be on its way to a broker, and what may wait for that. */
export interface WindowLimits {
  readonly maxCount: number;
  readonly maxBytes: number;
  readonly maxWaitingBytes: number;
}

/** Room for what is under way: backpressure in memory that is bounded. */
export interface PublishWindow {
  /**
   * Waits, first come first served, until there is room for `bytes` (what is larger than the window goes alone); the
   * result makes the room free again. Errors: `BUS_UNAVAILABLE` when too much waits already. Leaves when `signal` aborts.
   */
  readonly enter: (bytes: number, signal: AbortSignal) => Promise<() => void>;
}

interface Waiting {
  readonly bytes: number;
  readonly admit: () => void;
}

/** A window with nothing under way. */
export const publishWindow = ({ maxCount, maxBytes, maxWaitingBytes }: WindowLimits): PublishWindow => {
  const waiting = new Set<Waiting>();
  let [count, underWay, waitingBytes] = [0, 0, 0];

  const hasRoom = (bytes: number): boolean => count === 0 || (count < maxCount && underWay + bytes <= maxBytes);

  const take = (bytes: number): (() => void) => {
    count += 1;
    underWay += bytes;
    let isFree = false;
    return () => {
      if (isFree) return;
      isFree = true;
      count -= 1;
      underWay -= bytes;
      for (const next of waiting) {
        if (!hasRoom(next.bytes)) break;
        next.admit();
      }
    };
  };

  const wait = (bytes: number, signal: AbortSignal): Promise<() => void> =>
    new Promise((resolve, reject) => {
      const leave = (): void => {
        waiting.delete(entry);
        waitingBytes -= bytes;
        signal.removeEventListener('abort', give);
      };
      const give = (): void => {
        leave();
        reject(signal.reason);
      };
      const entry: Waiting = {
        bytes,
        admit: () => {
          leave();
          resolve(take(bytes));
        },
      };
      waiting.add(entry);
      waitingBytes += bytes;
      signal.addEventListener('abort', give, { once: true });
    });

  return {
    enter: async (bytes, signal) => {
      signal.throwIfAborted();
      if (waiting.size === 0 && hasRoom(bytes)) return take(bytes);
      if (waitingBytes + bytes > maxWaitingBytes && waiting.size > 0) {
        throw new AppError(
          'BUS_UNAVAILABLE',
          'too much waits to be published; wait for publishes before the next ones',
          {
            facts: { waiting: waiting.size, waitingBytes },
          },
        );
      }
      return wait(bytes, signal);
    },
  };
};
