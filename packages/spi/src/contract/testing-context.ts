import type { CallContext } from '../call-context.ts';

/** A context for a call by hand: never aborted, five seconds, unless `overrides` say otherwise. */
export const testingContext = (overrides: Partial<CallContext> = {}): CallContext => ({
  signal: new AbortController().signal,
  timeoutMs: 5_000,
  ...overrides,
});
