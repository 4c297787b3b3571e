import type { Run } from './run.ts';
import type { Dict, GoObject } from './value/value.ts';

/** Go's parameter types, and what a function of that type is handed. */
export interface ParamTypes {
  /** `interface {}`: any value, nil as null. */
  any: unknown;
  /** `reflect.Value`: any value, and undefined for nothing at all. */
  value: unknown;
  string: string;
  int: number;
  uint32: number;
  float64: number;
  bool: boolean;
  /** `map[string]interface {}` and nothing else. */
  dict: Dict;
  /** `time.Time`. */
  time: GoObject;
}

export type ParamType = keyof ParamTypes;

type Values<P extends readonly ParamType[]> = { -readonly [K in keyof P]: ParamTypes[P[K]] };

/**
 * A function of the language. Arguments are checked against `params` and, for those beyond, `rest` before `call` sees them.
 * `call` refuses by throwing a FunctionFailure.
 */
export interface GoFunction {
  readonly params: readonly ParamType[];
  readonly rest?: ParamType | undefined;
  readonly call: (run: Run, args: readonly unknown[]) => unknown;
  /** `and` and `or` evaluate their arguments only as far as needed. */
  readonly isLazy?: boolean;
}

export type FunctionTable = Readonly<Record<string, GoFunction>>;

/** A function of fixed parameters. */
export const fn = <const P extends readonly ParamType[]>(
  params: P,
  call: (run: Run, ...args: Values<P>) => unknown,
): GoFunction => ({ params, call: (run, args) => call(run, ...(args as Values<P>)) });

/** A function of fixed parameters and any number of further ones. */
export const variadic = <const P extends readonly ParamType[], R extends ParamType>(
  params: P,
  rest: R,
  call: (run: Run, ...args: [...Values<P>, ...ParamTypes[R][]]) => unknown,
): GoFunction => ({
  params,
  rest,
  call: (run, args) => call(run, ...(args as [...Values<P>, ...ParamTypes[R][]])),
});
