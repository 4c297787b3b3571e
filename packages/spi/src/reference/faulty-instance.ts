import { AppError, digest, type ErrorCode, type InstanceDescription } from '@infrakit/core';
import type { CallContext } from '../call-context.ts';
import type { After } from '../deadline.ts';
import type { Instance, InstanceListing } from '../instance.ts';

/** One way for a call to go wrong. */
export type Fault =
  /** Refuses, without acting: `INSTANCE_FAILED` unless said otherwise. */
  | { readonly kind: 'error'; readonly code?: ErrorCode }
  /** Does not act and never answers, whatever the signal says. */
  | { readonly kind: 'timeout' }
  /** Acts, then fails with `RPC_TIMEOUT`. */
  | { readonly kind: 'lose-answer' }
  /** Acts at once, answers after `ms`. */
  | { readonly kind: 'late'; readonly ms: number }
  /** Acts, then answers what no schema accepts. */
  | { readonly kind: 'undecodable' }
  /** Of a describe only: leaves out the entries for which `isDropped` holds, and says nothing of it. */
  | { readonly kind: 'short'; readonly isDropped: (description: InstanceDescription) => boolean }
  /** Of a describe only, not chosen by call: what is provisioned while it is in force is missing from so many describes. */
  | { readonly kind: 'delay-visibility'; readonly describes: number };

type Params<M extends keyof Instance> = Parameters<Instance[M]>[0];

/** The faults in force, by method: always the same one, or chosen for each call. Change them at any time. */
export type InstanceFaults = {
  -readonly [M in keyof Instance]?: Fault | ((params: Params<M>) => Fault | undefined) | undefined;
};

/** The fault for the first `count` calls, none after them. */
export const firstCalls = (count: number, fault: Fault): (() => Fault | undefined) => {
  let calls = 0;
  return () => {
    calls += 1;
    return calls <= count ? fault : undefined;
  };
};

const shown = (instances: InstanceDescription[], known: string | undefined): InstanceListing => {
  const own = digest(instances);
  return own === known ? { kind: 'unchanged', digest: own } : { kind: 'instances', digest: own, instances };
};

/** An instance with faults that are switched by writing to `faults`: `faults.describe = { kind: 'timeout' }`. */
export const faulty = (instance: Instance, faults: InstanceFaults, deps: { readonly after: After }): Instance => {
  /** How many describes will not show an id yet; kept at 0 afterwards, as a key may give the same id again. */
  const hidden = new Map<string, number>();

  const faultOf = <M extends keyof Instance>(method: M, params: Params<M>): Fault | undefined => {
    const fault = faults[method];
    return typeof fault === 'function' ? fault(params) : fault;
  };

  const listWithout = async (
    params: Params<'describe'>,
    ctx: CallContext,
    isDropped: (description: InstanceDescription) => boolean,
  ): Promise<InstanceListing> => {
    const { digest: known, ...all } = params;
    const listing = await instance.describe(all, ctx);
    if (listing.kind === 'unchanged') return listing;
    return shown(
      listing.instances.filter((description) => !isDropped(description)),
      known,
    );
  };

  const suffer = async <R>(fault: Fault | undefined, method: keyof Instance, act: () => Promise<R>): Promise<R> => {
    switch (fault?.kind) {
      case 'error':
        throw new AppError(fault.code ?? 'INSTANCE_FAILED', `injected fault: ${method} is refused`);
      case 'timeout':
        return new Promise<R>(() => undefined);
      case 'lose-answer':
        await act();
        throw new AppError('RPC_TIMEOUT', `injected fault: the answer to ${method} is lost`);
      case 'late': {
        const answer = await act();
        await new Promise<void>((resolve) => {
          deps.after(fault.ms, resolve);
        });
        return answer;
      }
      case 'undecodable':
        await act();
        return { garbage: true } as R;
      case 'short':
      case 'delay-visibility':
      case undefined:
        return act();
      default:
        return fault satisfies never;
    }
  };

  return {
    validate: (params, ctx) => suffer(faultOf('validate', params), 'validate', () => instance.validate(params, ctx)),
    provision: (params, ctx) =>
      suffer(faultOf('provision', params), 'provision', async () => {
        const answer = await instance.provision(params, ctx);
        const fault = faults.describe;
        if (typeof fault === 'object' && fault.kind === 'delay-visibility' && !hidden.has(answer.id)) {
          hidden.set(answer.id, fault.describes);
        }
        return answer;
      }),
    label: (params, ctx) => suffer(faultOf('label', params), 'label', () => instance.label(params, ctx)),
    destroy: (params, ctx) => suffer(faultOf('destroy', params), 'destroy', () => instance.destroy(params, ctx)),
    describe: (params, ctx) => {
      const fault = faultOf('describe', params);
      return suffer(fault, 'describe', async () => {
        if (fault?.kind === 'short') return listWithout(params, ctx, fault.isDropped);
        const waiting = [...hidden].filter(([, left]) => left > 0);
        if (waiting.length === 0) return instance.describe(params, ctx);
        for (const [id, left] of waiting) hidden.set(id, left - 1);
        const ids = new Set(waiting.map(([id]) => id));
        return listWithout(params, ctx, ({ ID }) => ids.has(ID));
      });
    },
  };
};
