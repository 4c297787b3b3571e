import { settledOr } from './load.ts';
import { fromPlain, toPlain } from './plain.ts';
import { type FunctionTable, variadic } from './signature.ts';
import type { GoFunction } from './value/value.ts';

/**
 * A function that the caller adds. It gets plain JavaScript values (whole numbers as numbers, or as bigints where those are
 * too small) and gives one; numbers become float64, bigints int. What it throws becomes an exec error that names it. Where it
 * gives a promise the template must be rendered with `renderAsync`, and equal arguments get the same answer.
 */
export type TemplateFunction = (...args: readonly unknown[]) => unknown;

const NAME = /^[\p{L}_][\p{L}\p{Nd}_]*$/u;

const keyOf = (name: string, args: readonly unknown[]): string =>
  `${name} ${JSON.stringify(args, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))}`;

const customFunction = (name: string, body: TemplateFunction): GoFunction =>
  variadic([], 'any', (run, ...values) => {
    const args = values.map((value) => toPlain(value, run.budget));
    const result = settledOr(
      run,
      () => keyOf(name, args),
      () => body(...args),
    );
    return fromPlain(result, run.budget);
  });

/** The caller's functions as functions of the language. Throws a TypeError for a name that templates cannot spell. */
export const customFunctions = (functions: Readonly<Record<string, TemplateFunction>>): FunctionTable =>
  Object.fromEntries(
    Object.entries(functions).map(([name, body]) => {
      if (!NAME.test(name)) {
        throw new TypeError(`${JSON.stringify(name)} is no name of a function`);
      }
      return [name, customFunction(name, body)];
    }),
  );
