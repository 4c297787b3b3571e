import type { CallContext } from '../call-context.ts';
import type { After } from '../deadline.ts';

/** A context for a call by hand: never aborted, five seconds, unless `overrides` say otherwise. */
export const testingContext = (overrides: Partial<CallContext> = {}): CallContext => ({
  signal: new AbortController().signal,
  timeoutMs: 5_000,
  ...overrides,
});

/** The timer of the machine, for whoever runs a contract. */
export const realAfter: After = (ms, run) => {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
};
