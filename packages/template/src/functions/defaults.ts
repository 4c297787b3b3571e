import { failCall } from '../errors.ts';
import { type FunctionTable, fn, variadic } from '../signature.ts';
import { deepEqual } from '../value/compare.ts';
import { isTrue, kindName, typeName } from '../value/types.ts';

/** sprig's functions on emptiness, types and failure. */
export const DEFAULT_FUNCTIONS: FunctionTable = {
  default: variadic(['any'], 'any', (_run, fallback, ...given) => (isTrue(given[0]) ? given[0] : fallback)),
  empty: fn(['any'], (_run, value) => !isTrue(value)),
  coalesce: variadic([], 'any', (_run, ...values) => values.find((value) => isTrue(value)) ?? null),
  all: variadic([], 'any', (_run, ...values) => values.every((value) => isTrue(value))),
  any: variadic([], 'any', (_run, ...values) => values.some((value) => isTrue(value))),
  ternary: fn(['any', 'any', 'bool'], (_run, yes, no, condition) => (condition ? yes : no)),
  fail: fn(['string'], (_run, message) => failCall(message)),
  typeOf: fn(['any'], (_run, value) => typeName(value)),
  typeIs: fn(['string', 'any'], (_run, type, value) => type === typeName(value)),
  typeIsLike: fn(['string', 'any'], (_run, type, value) => type === typeName(value) || `*${type}` === typeName(value)),
  kindOf: fn(['any'], (_run, value) => kindName(value)),
  kindIs: fn(['string', 'any'], (_run, kind, value) => kind === kindName(value)),
  deepEqual: fn(['any', 'any'], (run, a, b) => deepEqual(a, b, run.budget)),
};
