import { failCall } from '../errors.ts';
import { type FunctionTable, fn, variadic } from '../signature.ts';
import { int, int64 } from '../value/value.ts';
import { toFloat64, toInt64, toInt64Base10 } from './convert.ts';

const wrap = (value: bigint): bigint => BigInt.asIntN(64, value);

const divisor = (value: unknown): bigint => {
  const number = toInt64(value);
  return number === 0n ? failCall('runtime error: integer divide by zero') : number;
};

const extreme = (values: readonly unknown[], isBetter: (a: bigint, b: bigint) => boolean) => {
  const [first = 0n, ...others] = values.map(toInt64);
  return int64(others.reduce((best, value) => (isBetter(value, best) ? value : best), first));
};

const max = variadic(['any'], 'any', (_run, ...values) => extreme(values, (a, b) => a > b));

const round = (value: number, places: number, roundOn: number): number => {
  const power = 10 ** places;
  const digit = power * value;
  const fraction = digit - Math.trunc(digit);
  return (fraction >= roundOn ? Math.ceil(digit) : Math.floor(digit)) / power;
};

/** sprig's arithmetic: whole numbers are int64 and wrap around as Go's do. */
export const MATH_FUNCTIONS: FunctionTable = {
  int: fn(['any'], (_run, value) => int(toInt64Base10(value))),
  int64: fn(['any'], (_run, value) => int64(toInt64Base10(value))),
  float64: fn(['any'], (_run, value) => toFloat64(value)),
  add1: fn(['any'], (_run, value) => int64(toInt64(value) + 1n)),
  add: variadic([], 'any', (_run, ...values) => int64(values.reduce((sum: bigint, value) => sum + toInt64(value), 0n))),
  sub: fn(['any', 'any'], (_run, a, b) => int64(toInt64(a) - toInt64(b))),
  div: fn(['any', 'any'], (_run, a, b) => int64(toInt64(a) / divisor(b))),
  mod: fn(['any', 'any'], (_run, a, b) => int64(toInt64(a) % divisor(b))),
  mul: variadic(['any'], 'any', (_run, ...values) =>
    int64(values.reduce((product: bigint, value) => wrap(product * toInt64(value)), 1n)),
  ),
  max,
  biggest: max,
  min: variadic(['any'], 'any', (_run, ...values) => extreme(values, (a, b) => a < b)),
  maxf: variadic(['any'], 'any', (_run, ...values) => Math.max(...values.map(toFloat64))),
  minf: variadic(['any'], 'any', (_run, ...values) => Math.min(...values.map(toFloat64))),
  floor: fn(['any'], (_run, value) => Math.floor(toFloat64(value))),
  ceil: fn(['any'], (_run, value) => Math.ceil(toFloat64(value))),
  round: variadic(['any', 'int'], 'float64', (_run, value, places, roundOn = 0.5) =>
    round(toFloat64(value), places, roundOn),
  ),
};
