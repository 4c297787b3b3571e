import { type Budget, checkDepth } from './budget.ts';
import { failCall } from './errors.ts';
import {
  type Dict,
  fieldsOf,
  getKey,
  int,
  isComplex,
  isInt,
  isList,
  isObject,
  isTagged,
  newDict,
  ownText,
  setKey,
} from './value/value.ts';

const toPlainNested = (value: unknown, budget: Budget, depth: number): unknown => {
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  budget.step();
  checkDepth(depth);
  const inner = (item: unknown): unknown => toPlainNested(item, budget, depth + 1);
  if (isInt(value)) {
    const number = Number(value.value);
    return Number.isSafeInteger(number) ? number : value.value;
  }
  if (isList(value)) {
    return value.map(inner);
  }
  if (isComplex(value)) {
    return failCall('complex numbers cannot be handed on');
  }
  if (isObject(value)) {
    return value.isNil ? null : (ownText(value) ?? inner(Object.fromEntries(fieldsOf(value))));
  }
  const out: Dict = {};
  for (const key of Object.keys(value)) {
    setKey(out, key, inner(getKey(value as Dict, key)));
  }
  return out;
};

/** A value of the language as plain JavaScript: whole numbers as numbers, or as bigints where those are too small. */
export const toPlain = (value: unknown, budget: Budget): unknown => toPlainNested(value, budget, 0);

const fromPlainNested = (value: unknown, budget: Budget, depth: number): unknown => {
  if (typeof value === 'bigint') {
    return int(value);
  }
  if (typeof value === 'function' || typeof value === 'symbol') {
    return failCall(`a ${typeof value} is no value of the language`);
  }
  if (typeof value !== 'object' || value === null || isTagged(value)) {
    return value ?? null;
  }
  budget.step();
  checkDepth(depth);
  if (isList(value)) {
    return value.map((item) => fromPlainNested(item, budget, depth + 1));
  }
  const out = newDict();
  for (const [key, item] of Object.entries(value)) {
    setKey(out, key, fromPlainNested(item, budget, depth + 1));
  }
  return out;
};

/** A copy of a plain JavaScript value as one of the language: numbers are float64, bigints int. */
export const fromPlain = (value: unknown, budget: Budget): unknown => fromPlainNested(value, budget, 0);
