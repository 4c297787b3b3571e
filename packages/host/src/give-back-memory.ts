import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** What is asked of the process. */
export interface MemoryUse {
  /** Resident memory, in bytes. */
  readonly residentBytes: () => number;
  /** A full collection: tens of ms for a heap of 100 MB. */
  readonly collect: () => void;
}

const mebibyte = 2 ** 20;
/** Less than this is not worth a pause. */
const worthBytes = 32 * mebibyte;
/** Growth by this much while nobody looked means that a burst is not over. */
const restBytes = 4 * mebibyte;

/**
 * What to call now and then, so that the garbage of a burst is given back soon after it: the engine itself leaves it where it
 * is until the next one, for minutes of an idle process. It collects when memory grew by `worthBytes` at least since the last
 * time, and rests now.
 */
export const memoryKeeper = ({ residentBytes, collect }: MemoryUse): (() => void) => {
  let lastBytes = residentBytes();
  let keptBytes = lastBytes;
  return () => {
    const nowBytes = residentBytes();
    const isAtRest = Math.abs(nowBytes - lastBytes) < restBytes;
    lastBytes = nowBytes;
    if (!isAtRest || nowBytes - keptBytes < worthBytes) return;
    collect();
    keptBytes = residentBytes();
    lastBytes = keptBytes;
  };
};

/** How the engine of this process is made to collect; it has no function for that unless it is told to. */
const collector = (): (() => void) => {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
};

const everyMs = 2_000;

/** Gives the memory of bursts back for as long as this process runs, or until it is ended. */
export const giveBackMemory = (): (() => void) => {
  const keeper = memoryKeeper({ residentBytes: process.memoryUsage.rss, collect: collector() });
  const timer = setInterval(keeper, everyMs).unref();
  return () => clearInterval(timer);
};
