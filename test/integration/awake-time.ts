/** A stopwatch that is read in ms, and stands still while the machine lets this process do nothing. */
export interface AwakeTime extends Disposable {
  readonly ms: () => number;
}

const stepMs = 5;

/**
 * Starts one. What runs in this process may be as late as the machine makes it, which is no fault of its own: a pause counts
 * as no more than two steps. It never shows more than the time that has really passed.
 */
export const startAwakeTime = (): AwakeTime => {
  let [awakeMs, lastMs] = [0, performance.now()];
  const timer = setInterval(() => {
    const nowMs = performance.now();
    awakeMs += Math.min(nowMs - lastMs, 2 * stepMs);
    lastMs = nowMs;
  }, stepMs);
  return { ms: () => awakeMs, [Symbol.dispose]: () => clearInterval(timer) };
};
