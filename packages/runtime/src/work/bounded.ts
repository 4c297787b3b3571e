import { type CallContext, withDeadline } from '@infrakit/spi';
import type { RuleSettings } from '../rule/rule.ts';
import type { Clock } from './clock.ts';

/** What a call of a rule is bounded with. */
export interface Bounds {
  readonly clock: Clock;
  readonly what: string;
  readonly timeoutMs: number;
  /** The most that the callee's `progress` can stretch the deadline to, from the start; `timeoutMs` when left out. */
  readonly maxTimeoutMs?: number;
}

/** The bounds of one read or act of a rule. */
export const boundsOf = (
  rule: { readonly name: string; readonly settings: RuleSettings },
  clock: Clock,
  what: string,
): Bounds => ({
  clock,
  what: `${what} of ${rule.name}`,
  timeoutMs: rule.settings.callTimeoutMs,
  maxTimeoutMs: rule.settings.maxCallTimeoutMs,
});

/**
 * One call to a plugin or a store with a deadline of its own, also when the callee ignores it (Law 10). `progress` of the
 * callee starts the time anew, up to the maximum, and is passed on.
 */
export const bounded = <T>(
  call: (own: CallContext) => Promise<T>,
  ctx: CallContext,
  { clock, what, timeoutMs, maxTimeoutMs = timeoutMs }: Bounds,
): Promise<T> =>
  withDeadline(
    (signal, extend) =>
      call({
        ...ctx,
        signal,
        timeoutMs,
        progress: (note) => {
          extend();
          ctx.progress?.(note);
        },
      }),
    { after: clock.after, what, timeoutMs, maxTimeoutMs, signal: ctx.signal },
  );
