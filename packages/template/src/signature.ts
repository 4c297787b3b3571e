import type { Run } from './run.ts';
import type { Dict, GoFunction, GoObject, ParamType } from './value/value.ts';

/** What a function is handed for a parameter of each type. */
interface ParamTypes extends Record<ParamType, unknown> {
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

type Values<P extends readonly ParamType[]> = { -readonly [K in keyof P]: ParamTypes[P[K]] };

export type FunctionTable = Readonly<Record<string, GoFunction>>;

/** A function of fixed parameters. */
export const fn = <const P extends readonly ParamType[]>(
  params: P,
  call: (run: Run, ...args: Values<P>) => unknown,
): GoFunction => ({ params, call: (run, args) => call(run, ...(args as Values<P>)) });

/** A method of fixed parameters; it gets the value that it belongs to first. */
export const method = <const P extends readonly ParamType[]>(
  params: P,
  call: (run: Run, self: GoObject, ...args: Values<P>) => unknown,
): GoFunction => ({ params, call: (run, args) => call(run, ...(args as [GoObject, ...Values<P>])) });

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
