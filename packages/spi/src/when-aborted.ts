/** Kept on the signal itself: each call has a signal of its own, and a WeakMap of so many costs the collector dearly. */
const waiting = Symbol('waiting');

type Waiting = AbortSignal & { [waiting]?: Set<() => void> };

/**
 * Calls `call` once when `signal` aborts (not when it already has); the result forgets it. A signal gets one listener
 * however many calls wait on it: Node warns of the eleventh, and adding one costs as much as there are.
 */
export const whenAborted = (signal: Waiting, call: () => void): (() => void) => {
  const calls = signal[waiting] ?? listen(signal);
  calls.add(call);
  return () => {
    calls.delete(call);
  };
};

const listen = (signal: Waiting): Set<() => void> => {
  const calls = new Set<() => void>();
  signal[waiting] = calls;
  signal.addEventListener('abort', () => calls.forEach((call) => void call()), { once: true });
  return calls;
};
