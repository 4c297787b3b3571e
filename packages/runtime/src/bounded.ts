import { type CallContext, withDeadline } from '@infrakit/spi';
import type { Clock } from './clock.ts';

/** What a call of a rule is bounded with. */
export interface Bounds {
  readonly clock: Clock;
  readonly what: string;
  readonly timeoutMs: number;
}

/** One call to a plugin or a store with a deadline of its own, also when the callee ignores it (Law 10). */
export const bounded = <T>(
  call: (own: CallContext) => Promise<T>,
  ctx: CallContext,
  { clock, what, timeoutMs }: Bounds,
): Promise<T> =>
  withDeadline((signal) => call({ ...ctx, signal, timeoutMs }), {
    after: clock.after,
    what,
    timeoutMs,
    signal: ctx.signal,
  });
