import type { After } from '@infrakit/spi';

/** Publishers that wait for a reader. */
export interface ReaderCrowd {
  /** Calls back when there is room, or when the reader has taken nothing for too long. */
  readonly enter: (done: () => void) => void;
  /** The reader has taken something. */
  readonly progress: () => void;
  /** The reader has ended: nobody waits for it. */
  readonly end: () => void;
}

/** Nobody waits yet. `stallMs`: how long a reader may take nothing while somebody waits. */
export const readerCrowd = (hasRoom: () => boolean, stallMs: number, after: After): ReaderCrowd => {
  let waiting: (() => void)[] = [];
  let isStuck = false;
  let stopTimer = (): void => undefined;
  const letGo = (): void => {
    stopTimer();
    const all = waiting;
    waiting = [];
    for (const done of all) done();
  };
  const watch = (): void => {
    stopTimer();
    stopTimer = after(stallMs, () => {
      isStuck = true;
      letGo();
    });
  };
  return {
    enter: (done) => {
      if (isStuck || hasRoom()) return done();
      if (waiting.length === 0) watch();
      waiting.push(done);
    },
    progress: () => {
      isStuck = false;
      if (waiting.length === 0) return;
      if (hasRoom()) letGo();
      else watch();
    },
    end: letGo,
  };
};
