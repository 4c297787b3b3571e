import { statfs } from 'node:fs/promises';

/** Whether the disk of a buffer has room. What is there could not be delivered from a full one: that it is done is written too. */
export interface DiskRoom {
  /** Whether there is room for so many bytes more, by the last look and what came since; they count from now on. */
  readonly takes: (bytes: number) => boolean;
  /** Resolves when there is room, or at `signal`. */
  readonly wait: (signal: AbortSignal) => Promise<void>;
}

/** So much is left to others: the smaller of the two. */
const [leastFree, leastShare] = [64 * 1024 * 1024, 1 / 20];
/** What is written about a message until it is done, in bytes, and some more. */
const factBytes = 128;
/** Between two looks, in ms. */
const everyMs = 200;

/** The room on the disk of a folder in which so many messages wait. A file system that tells nothing has room. */
export const diskRoom = async (
  folder: string,
  waiting: () => number,
  clock: { readonly now: () => number; readonly after: (ms: number, call: () => void) => () => void },
): Promise<DiskRoom> => {
  let room = Number.POSITIVE_INFINITY;
  let lookedMs = 0;

  const look = async (): Promise<void> => {
    lookedMs = clock.now();
    try {
      const { bavail, blocks, bsize } = await statfs(folder);
      room = bavail * bsize - Math.min(leastFree, blocks * bsize * leastShare) - factBytes * waiting();
    } catch {
      room = Number.POSITIVE_INFINITY;
    }
  };
  await look();

  const pause = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const over = (): void => {
        cancel();
        signal.removeEventListener('abort', over);
        resolve();
      };
      const cancel = clock.after(everyMs, over);
      signal.addEventListener('abort', over);
    });

  return {
    takes: (bytes) => {
      if (clock.now() - lookedMs >= everyMs) void look();
      const needed = bytes + factBytes;
      if (room < needed) return false;
      room -= needed;
      return true;
    },
    wait: async (signal) => {
      while (!signal.aborted) {
        await pause(signal);
        await look();
        if (room > 0) return;
      }
    },
  };
};
