import type { z } from 'zod';
import type { CallContext } from './call-context.ts';

/** One method of an interface: all that a server, a proxy, `direct()` and the documentation are derived from. */
export interface MethodDescription<P extends z.ZodType = z.ZodType, R extends z.ZodType = z.ZodType> {
  readonly params: P;
  readonly result: R;
  /** Whether it can change anything; a managed object refuses such calls from outside its manager. */
  readonly mutates: boolean;
  /** Whether the same call again, also after a restart, leaves the same state and answer. */
  readonly idempotent: boolean;
  /** Deadline of a caller that names none. */
  readonly timeoutMs: number;
  /** Up to here `progress` may extend it. */
  readonly maxTimeoutMs: number;
  /** Checks a large result by hand where zod would cost 16 times as much; true when it has the result's shape. */
  readonly isResult?: (value: unknown) => value is z.output<R>;
}

/** The methods of an interface, by camel-case name; `<Interface>.<Method>` on the wire has both words capitalised. */
export type Methods = Readonly<Record<string, MethodDescription>>;

/** An interface of plugins. The same major version is compatible (DESIGN §5). */
export interface InterfaceDescription<M extends Methods = Methods> {
  readonly name: string;
  readonly version: string;
  readonly methods: M;
}

/** The TypeScript interface that a description stands for: one params object, one context, one promise. */
export type SpiOf<I extends InterfaceDescription> = {
  readonly [K in keyof I['methods']]: (
    params: z.output<I['methods'][K]['params']>,
    ctx: CallContext,
  ) => Promise<z.output<I['methods'][K]['result']>>;
};

const second = 1_000;

type Deadline = { readonly timeoutMs?: number; readonly maxTimeoutMs?: number };

/** A method that only reads. */
export const reading = <P extends z.ZodType, R extends z.ZodType>(
  params: P,
  result: R,
  options: Deadline & { readonly isResult?: (value: unknown) => value is z.output<R> } = {},
): MethodDescription<P, R> => ({
  params,
  result,
  mutates: false,
  idempotent: true,
  timeoutMs: 10 * second,
  maxTimeoutMs: 60 * second,
  ...options,
});

/** A method that changes something; idempotent by its parameters unless said otherwise (DESIGN §3). */
export const mutating = <P extends z.ZodType, R extends z.ZodType>(
  params: P,
  result: R,
  options: Deadline = {},
): MethodDescription<P, R> => ({
  params,
  result,
  mutates: true,
  idempotent: true,
  timeoutMs: 10 * second,
  maxTimeoutMs: 600 * second,
  ...options,
});

/** `Instance.Provision` for (Instance, provision): the name of a method on the wire. */
export const wireName = (description: InterfaceDescription, method: string): string =>
  `${description.name}.${method.charAt(0).toUpperCase()}${method.slice(1)}`;
