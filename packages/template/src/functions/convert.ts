import type { Budget } from '../budget.ts';
import { failCall } from '../errors.ts';
import { parseFloat64, parseInt0, parseInt10 } from '../text/number.ts';
import { printValue } from '../value/print.ts';
import { kindName } from '../value/types.ts';
import { isInt, isList, type List } from '../value/value.ts';

const MIN_INT64 = -(2n ** 63n);

/** A float as Go's processors convert it: towards nought; what does not fit becomes the least int64. */
const truncateFloat = (value: number): bigint => {
  const whole = Number.isFinite(value) ? BigInt(Math.trunc(value)) : MIN_INT64;
  return BigInt.asIntN(64, whole) === whole ? whole : MIN_INT64;
};

/** `7.00` without its noughts, as sprig's conversions read it. */
const trimZeroDecimal = (text: string): string => text.replace(/\.0+$/, '');

const numberOf = (value: unknown, readText: (text: string) => bigint | undefined): bigint => {
  switch (typeof value) {
    case 'number':
      return truncateFloat(value);
    case 'boolean':
      return value ? 1n : 0n;
    case 'string':
      return readText(value) ?? 0n;
    default:
      return isInt(value) ? BigInt.asIntN(64, value.value) : 0n;
  }
};

/** A value as int64 in sprig's arithmetic: text in the base of its prefix, 0 where it is no number. */
export const toInt64 = (value: unknown): bigint => numberOf(value, (text) => parseInt0(trimZeroDecimal(text)));

/** A value as int64 for `int` and `int64`: text in base 10, 0 where it is no number (EI §1.6). */
export const toInt64Base10 = (value: unknown): bigint => numberOf(value, parseInt10);

/** A value as float64; 0 where it is no number. */
export const toFloat64 = (value: unknown): number => {
  switch (typeof value) {
    case 'number':
      return value;
    case 'boolean':
      return value ? 1 : 0;
    case 'string':
      return parseFloat64(value) ?? 0;
    default:
      return isInt(value) ? Number(value.value) : 0;
  }
};

/** A value as text, as sprig's `toString` has it. */
export const toText = (value: unknown, budget: Budget): string =>
  typeof value === 'string' ? value : printValue(value, budget);

/** A value as a list of texts: the elements that are not nil, or the value itself. */
export const toTexts = (value: unknown, budget: Budget): string[] => {
  if (isList(value)) {
    budget.step(value.length);
    return value.filter((item) => item !== null && item !== undefined).map((item) => toText(item, budget));
  }
  return value === null || value === undefined ? [] : [toText(value, budget)];
};

/** A value that must be a list; `what` is what the function wanted with it. */
export const toList = (value: unknown, what: string, budget: Budget): List => {
  if (value === null || value === undefined) {
    return failCall('runtime error: invalid memory address or nil pointer dereference (a list is wanted, not nil)');
  }
  if (!isList(value)) {
    return failCall(`Cannot ${what} on type ${kindName(value)}`);
  }
  budget.step(value.length);
  return value;
};
