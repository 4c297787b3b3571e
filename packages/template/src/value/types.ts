import { byteLength, compareText } from '../text/bytes.ts';
import {
  type Dict,
  ELEMENT,
  hasType,
  isComplex,
  isDict,
  isInt,
  isList,
  isObject,
  type List,
  ownText,
} from './value.ts';

/** Go's name of a value's type, as `%T` prints it. */
export const typeName = (value: unknown): string => {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'number':
      return 'float64';
    case 'object':
      break;
    default:
      return '<nil>';
  }
  if (value === null) {
    return '<nil>';
  }
  if (isInt(value)) {
    return value.type;
  }
  if (isComplex(value)) {
    return 'complex128';
  }
  if (isObject(value)) {
    return value.shape.type;
  }
  const element = (value as List | Dict)[ELEMENT] ?? 'interface {}';
  return isList(value) ? `[]${element}` : `map[string]${element}`;
};

/** Go's kind of a value, as `kindOf` prints it. */
export const kindName = (value: unknown): string => {
  if (value === null || value === undefined) {
    return 'invalid';
  }
  if (isObject(value)) {
    return value.shape.kind;
  }
  const type = typeName(value);
  return type.startsWith('[]') ? 'slice' : type.startsWith('map[') ? 'map' : type;
};

/** Whether a value is true for `if`, `and`, `or` and `not`: not nought, not empty, not nil. */
export const isTrue = (value: unknown): boolean => {
  switch (typeof value) {
    case 'string':
      return value !== '';
    case 'boolean':
      return value;
    case 'number':
      return value !== 0;
    case 'object':
      break;
    default:
      return false;
  }
  if (value === null) {
    return false;
  }
  if (isInt(value)) {
    return value.value !== 0n;
  }
  if (isComplex(value)) {
    return value.re !== 0 || value.im !== 0;
  }
  if (isObject(value)) {
    return !value.isNil;
  }
  return isList(value) ? value.length > 0 : hasEntries(value);
};

const hasEntries = (dict: object): boolean => {
  for (const key in dict) {
    if (Object.hasOwn(dict, key)) {
      return true;
    }
  }
  return false;
};

/** Keys in the order in which Go ranges and prints: by their bytes. */
export const sortedKeys = (dict: Dict): string[] => Object.keys(dict).sort(compareText);

/** What a pointer points to: of a missing one null, of raw JSON its text. Other values as they are. */
export const pointee = (value: unknown): unknown =>
  hasType(value, '*string') || hasType(value, '*types.Any') ? (value.isNil ? null : (ownText(value) ?? null)) : value;

/** Number of bytes, elements or entries; undefined where a value has no length. */
export const lengthOf = (value: unknown): number | undefined => {
  if (typeof value === 'string') {
    return byteLength(value);
  }
  if (isList(value)) {
    return value.length;
  }
  return isDict(value) ? Object.keys(value).length : undefined;
};
