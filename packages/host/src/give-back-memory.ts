import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** What is asked of the process. */
export interface MemoryUse {
  /** Resident memory, in bytes. */
  readonly residentBytes: () => number;
  /** How busy the process was since this was last asked, 0 … 1. */
  readonly busyShare: () => number;
  /** A full collection: tens of ms for a heap of 100 MB. */
  readonly collect: () => void;
}

const mebibyte = 2 ** 20;
/** Less growth than this, or than that part of what was left the last time, is not worth a pause. */
const worthBytes = 64 * mebibyte;
const worthShare = 0.5;
/** A busier process is in the middle of a burst. */
const restShare = 0.2;

/**
 * What to call now and then, so that the garbage of a burst is given back soon after it: the engine itself leaves it where it
 * is, for minutes of an idle process.
 */
export const memoryKeeper = ({ residentBytes, busyShare, collect }: MemoryUse): (() => void) => {
  let keptBytes = residentBytes();
  let isCollected = false;
  return () => {
    const isBusy = busyShare() > restShare;
    const nowBytes = residentBytes();
    // Pages are given back in the background: what is left shows later, unless the next burst has begun by then.
    if (isCollected) keptBytes = Math.min(keptBytes, nowBytes);
    isCollected = false;
    if (isBusy || nowBytes - keptBytes < Math.max(worthBytes, keptBytes * worthShare)) return;
    collect();
    keptBytes = residentBytes();
    isCollected = true;
  };
};

/**
 * How the engine of this process is made to collect; it has no function for that unless it is told to. The first run finds the
 * garbage, the second gives back the pages that it left empty.
 */
const collector = (): (() => void) => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  return () => {
    collect();
    collect();
  };
};

/** How busy the event loop was from call to call. */
const loopUse = (): (() => number) => {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
};

const everyMs = 2_000;

/** Gives the memory of bursts back for as long as this process runs, or until it is ended. */
export const giveBackMemory = (): (() => void) => {
  const keeper = memoryKeeper({
    residentBytes: process.memoryUsage.rss,
    busyShare: loopUse(),
    collect: collector(),
  });
  const timer = setInterval(keeper, everyMs).unref();
  return () => clearInterval(timer);
};
