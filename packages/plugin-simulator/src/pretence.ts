import { AppError } from '@infrakit/core';
import { type CallContext, whenAborted } from '@infrakit/spi';
import type { SimulatorOptions } from './simulator-options.ts';

/** What a simulator pretends of the world: delays and failures. */
export interface Pretence {
  readonly start: (ctx: CallContext) => Promise<void>;
  readonly describe: (ctx: CallContext) => Promise<void>;
  readonly provision: (ctx: CallContext, extraMs: number) => Promise<void>;
  readonly destroy: (ctx: CallContext) => Promise<void>;
}

/** Waits, unless the caller gives up first (`RPC_CANCELLED`). */
const wait = (ms: number, { signal }: CallContext): Promise<void> => {
  const cancelled = (): AppError => new AppError('RPC_CANCELLED', 'the caller gave up', { cause: signal.reason });
  if (signal.aborted) return Promise.reject(cancelled());
  if (ms <= 0) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      forget();
      resolve();
    }, ms);
    const forget = whenAborted(signal, () => {
      clearTimeout(timer);
      reject(cancelled());
    });
  });
};

/** Pretends by the options: nobody else waits while one call does (GP-P13). */
export const pretence = (
  options: SimulatorOptions,
  deps: { readonly nowMs: () => number; readonly random: () => number },
): Pretence => {
  const readyMs = deps.nowMs() + options.StartDelay;
  const start = (ctx: CallContext): Promise<void> => wait(readyMs - deps.nowMs(), ctx);
  const stumble = (what: string): void => {
    if (deps.random() < options.ErrorRate) throw new AppError('INSTANCE_FAILED', `the simulated ${what} failed`);
  };
  const step = async (what: string, ms: number, ctx: CallContext): Promise<void> => {
    await start(ctx);
    await wait(ms, ctx);
    stumble(what);
  };
  return {
    start,
    describe: (ctx) => step('describe', options.DescribeDelay, ctx),
    provision: (ctx, extraMs) => step('provision', options.ProvisionDelay + extraMs, ctx),
    destroy: (ctx) => step('destroy', options.DestroyDelay, ctx),
  };
};
