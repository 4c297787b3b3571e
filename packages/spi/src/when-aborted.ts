const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `call` once when `signal` aborts (not when it already has); the result forgets it. A signal gets one listener
 * however many calls wait on it: Node warns of the eleventh, and adding one costs as much as there are.
 */
export const whenAborted = (signal: AbortSignal, call: () => void): (() => void) => {
  const calls = waiting.get(signal) ?? listen(signal);
  calls.add(call);
  return () => {
    calls.delete(call);
  };
};

const listen = (signal: AbortSignal): Set<() => void> => {
  const calls = new Set<() => void>();
  waiting.set(signal, calls);
  signal.addEventListener('abort', () => calls.forEach((call) => void call()), { once: true });
  return calls;
};
