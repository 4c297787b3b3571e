import { failCall } from '../errors.ts';
import { zeroElement } from '../fields.ts';
import { type FunctionTable, fn, variadic } from '../signature.ts';
import { byteLength, byteSlice, toBytes } from '../text/bytes.ts';
import { isEqual, isLess } from '../value/compare.ts';
import { sprint, sprintln } from '../value/print.ts';
import { sprintf } from '../value/printf.ts';
import { isTrue, lengthOf, pointee, typeName } from '../value/types.ts';
import { ELEMENT, type GoFunction, getKey, int, isDict, isInt, isList, typedList, unsigned } from '../value/value.ts';
import { escapeHtml, escapeJs, escapeQuery, escaperText } from './escapers.ts';

const isNothing = (value: unknown): value is null | undefined => value === null || value === undefined;

/** An index within 0 and `limit`, both included. */
const indexWithin = (value: unknown, limit: number): number => {
  if (!isInt(value)) {
    return failCall(`cannot index slice/array with ${isNothing(value) ? 'nil' : `type ${typeName(value)}`}`);
  }
  return value.value < 0n || value.value > BigInt(limit)
    ? failCall(`index out of range: ${value.value}`)
    : Number(value.value);
};

const elementAt = (item: unknown, index: unknown): unknown => {
  if (typeof item === 'string') {
    const bytes = toBytes(item);
    const at = indexWithin(index, bytes.length);
    return at < bytes.length ? unsigned('uint8', bytes[at] ?? 0) : failCall(`index out of range: ${at}`);
  }
  if (isList(item)) {
    const at = indexWithin(index, item.length);
    return at < item.length ? item[at] : failCall(`index out of range: ${at}`);
  }
  if (isDict(item)) {
    if (typeof index !== 'string') {
      return failCall(
        isNothing(index)
          ? 'value is nil; should be of type string'
          : `value has type ${typeName(index)}; should be string`,
      );
    }
    const value = getKey(item, index);
    return value === undefined ? zeroElement(item) : value;
  }
  return isNothing(item) ? failCall('index of nil pointer') : failCall(`can't index item of type ${typeName(item)}`);
};

const index = variadic(['value'], 'value', (_run, item, ...indexes) => {
  if (isNothing(item)) {
    return failCall('index of untyped nil');
  }
  return indexes.reduce((value, at) => elementAt(pointee(value), at), item);
});

const slice = variadic(['value'], 'value', (run, item, ...indexes) => {
  if (isNothing(item)) {
    return failCall('slice of untyped nil');
  }
  if (indexes.length > 3) {
    return failCall(`too many slice indexes: ${indexes.length}`);
  }
  const isText = typeof item === 'string';
  if (!isText && !isList(item)) {
    return failCall(`can't slice item of type ${typeName(item)}`);
  }
  if (isText && indexes.length === 3) {
    return failCall('cannot 3-index slice a string');
  }
  const size = isText ? byteLength(item) : item.length;
  const [from = 0, to = size, cap = size] = indexes.map((at) => indexWithin(at, size));
  if (from > to || to > cap) {
    return failCall(`invalid slice index: ${from > to ? `${from} > ${to}` : `${to} > ${cap}`}`);
  }
  if (isText) {
    return byteSlice(item, from, to);
  }
  run.budget.step(to - from);
  const part = item.slice(from, to);
  return item[ELEMENT] === undefined ? part : typedList(item[ELEMENT], part);
});

const len = fn(['value'], (run, item) => {
  const value = pointee(item);
  run.budget.step(isDict(value) ? Object.keys(value).length : 1);
  if (value === null) {
    return failCall('len of nil pointer');
  }
  const length = lengthOf(value);
  return length === undefined ? failCall(`len of type ${typeName(value)}`) : int(length);
});

const eq = variadic(['value'], 'value', (_run, first, ...others) =>
  others.length === 0 ? failCall('missing argument for comparison') : others.some((other) => isEqual(first, other)),
);

const isLessOrEqual = (a: unknown, b: unknown): boolean => isLess(a, b) || isEqual(a, b);

/** Never called: the evaluator decides argument by argument. */
const lazy: GoFunction = { ...variadic(['value'], 'value', (_run, value) => value), isLazy: true };

/** The functions that Go's text/template has by itself. */
export const BUILTINS: FunctionTable = {
  and: lazy,
  or: lazy,
  not: fn(['value'], (_run, value) => !isTrue(value)),
  call: variadic(['value'], 'value', (_run, value) =>
    failCall(isNothing(value) ? 'call of nil' : `non-function of type ${typeName(value)}`),
  ),
  index,
  slice,
  len,
  eq,
  ne: fn(['value', 'value'], (_run, a, b) => !isEqual(a, b)),
  lt: fn(['value', 'value'], (_run, a, b) => isLess(a, b)),
  le: fn(['value', 'value'], (_run, a, b) => isLessOrEqual(a, b)),
  gt: fn(['value', 'value'], (_run, a, b) => !isLessOrEqual(a, b)),
  ge: fn(['value', 'value'], (_run, a, b) => !isLess(a, b)),
  print: variadic([], 'any', (run, ...values) => sprint(values, run.budget)),
  printf: variadic(['string'], 'any', (run, format, ...values) => sprintf(format, values, run.budget)),
  println: variadic([], 'any', (run, ...values) => sprintln(values, run.budget)),
  html: variadic([], 'any', (run, ...values) => escapeHtml(escaperText(values, run.budget))),
  js: variadic([], 'any', (run, ...values) => escapeJs(escaperText(values, run.budget))),
  urlquery: variadic([], 'any', (run, ...values) => escapeQuery(escaperText(values, run.budget))),
};
