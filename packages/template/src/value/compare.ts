import { type Budget, checkDepth } from '../budget.ts';
import { failCall } from '../errors.ts';
import { compareText } from '../text/bytes.ts';
import { typeName } from './types.ts';
import { type Dict, getKey, hasKey, isComplex, isDict, isInt, isList, isNilDict, isObject, ownText } from './value.ts';

type BasicKind = 'bool' | 'complex' | 'int' | 'uint' | 'float' | 'string' | 'other';

const basicKind = (value: unknown): BasicKind => {
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'number':
      return 'float';
    case 'string':
      return 'string';
    default:
      if (isInt(value)) {
        return value.type.startsWith('u') ? 'uint' : 'int';
      }
      return isComplex(value) ? 'complex' : 'other';
  }
};

const isNothing = (value: unknown): value is null | undefined => value === undefined || value === null;

const isNil = (value: unknown): boolean => isNothing(value) || isNilDict(value) || (isObject(value) && value.isNil);

const isWhole = (kind: BasicKind): boolean => kind === 'int' || kind === 'uint';

const wholeOf = (value: unknown): bigint => (isInt(value) ? value.value : 0n);

/** Values that are neither numbers, texts nor booleans: only nil can be compared, and identity of structs. */
const equalOthers = (a: unknown, b: unknown): boolean => {
  if (isNothing(a) || isNothing(b)) {
    return isNil(a) === isNil(b);
  }
  if (isList(a) || isDict(a) || isList(b) || isDict(b)) {
    return failCall(`non-comparable types ${typeName(a)} and ${typeName(b)}`);
  }
  return isNil(a) || isNil(b) ? isNil(a) === isNil(b) : a === b;
};

const equalBasic = (kind: BasicKind, a: unknown, b: unknown): boolean => {
  switch (kind) {
    case 'int':
    case 'uint':
      return wholeOf(a) === wholeOf(b);
    case 'complex':
      return isComplex(a) && isComplex(b) && a.re === b.re && a.im === b.im;
    case 'other':
      return equalOthers(a, b);
    default:
      return a === b;
  }
};

const incompatible = (a: unknown, b: unknown): never =>
  failCall(`incompatible types for comparison: ${typeName(a)} and ${typeName(b)}`);

/** Go's `eq` of two values: types that differ are an error, except for nil and whole numbers. */
export const isEqual = (a: unknown, b: unknown): boolean => {
  const kind = basicKind(a);
  const other = basicKind(b);
  if (kind === other || (isWhole(kind) && isWhole(other))) {
    return equalBasic(kind, a, b);
  }
  return isNothing(a) || isNothing(b) ? false : incompatible(a, b);
};

/** Go's `lt`: numbers of one kind and texts have an order, nothing else. */
export const isLess = (a: unknown, b: unknown): boolean => {
  const kind = basicKind(a);
  const other = basicKind(b);
  if (kind === 'other' || other === 'other') {
    return failCall('invalid type for comparison');
  }
  if (isWhole(kind) && isWhole(other)) {
    return wholeOf(a) < wholeOf(b);
  }
  if (kind !== other) {
    return incompatible(a, b);
  }
  if (kind === 'float') {
    return (a as number) < (b as number);
  }
  return kind === 'string' ? compareText(a as string, b as string) < 0 : failCall('invalid type for comparison');
};

const deepEqualDicts = (a: Dict, b: Dict, budget: Budget, depth: number): boolean => {
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => hasKey(b, key) && deepEqualNested(getKey(a, key), getKey(b, key), budget, depth + 1))
  );
};

const deepEqualNested = (a: unknown, b: unknown, budget: Budget, depth: number): boolean => {
  if (a === b) {
    return typeof a !== 'number' || !Number.isNaN(a);
  }
  budget.step();
  checkDepth(depth);
  if (typeName(a) !== typeName(b)) {
    return false;
  }
  if (isList(a) && isList(b)) {
    return a.length === b.length && a.every((item, i) => deepEqualNested(item, b[i], budget, depth + 1));
  }
  if (isDict(a) && isDict(b)) {
    return deepEqualDicts(a, b, budget, depth);
  }
  if (isObject(a) && isObject(b)) {
    return a.isNil === b.isNil && ownText(a) === ownText(b);
  }
  return isNothing(a) || isNothing(b) ? isNothing(a) && isNothing(b) : equalBasic(basicKind(a), a, b);
};

/** Go's `reflect.DeepEqual`: the same types and contents; 1 and 1.0 differ. */
export const deepEqual = (a: unknown, b: unknown, budget: Budget): boolean => deepEqualNested(a, b, budget, 0);
