import { type Budget, checkDepth } from '../budget.ts';
import { printFloat } from '../text/float.ts';
import { sortedKeys } from './types.ts';
import {
  type Dict,
  fieldsOf,
  type GoComplex,
  type GoObject,
  getKey,
  isComplex,
  isInt,
  isList,
  isObject,
  ownText,
} from './value.ts';

const withSign = (value: number): string =>
  (value < 0 || Object.is(value, -0) || Number.isNaN(value) ? '' : '+') + printFloat(value);

/** Infinity brings its own plus. */
const signed = (value: number): string =>
  value === Infinity ? '+Inf' : Number.isNaN(value) ? '+NaN' : withSign(value);

const printComplex = (value: GoComplex): string => `(${printFloat(value.re)}${signed(value.im)}i)`;

const printObject = (value: GoObject, budget: Budget, depth: number): string => {
  const own = ownText(value);
  if (own !== undefined) {
    return own;
  }
  const fields = fieldsOf(value).map(([, field]) => printNested(field, budget, depth + 1));
  return `{${fields.join(' ')}}`;
};

const printDict = (dict: Dict, budget: Budget, depth: number): string => {
  const parts = sortedKeys(dict).map((key) => `${key}:${printNested(getKey(dict, key), budget, depth + 1)}`);
  return `map[${parts.join(' ')}]`;
};

const printNested = (value: unknown, budget: Budget, depth: number): string => {
  switch (typeof value) {
    case 'string':
      budget.characters(value.length);
      return value;
    case 'boolean':
      return value ? 'true' : 'false';
    case 'number':
      return printFloat(value);
    case 'object':
      break;
    default:
      return '<nil>';
  }
  if (value === null) {
    return '<nil>';
  }
  if (isInt(value)) {
    return value.value.toString();
  }
  checkDepth(depth);
  budget.step();
  if (isList(value)) {
    budget.step(value.length);
    return `[${value.map((item) => printNested(item, budget, depth + 1)).join(' ')}]`;
  }
  if (isComplex(value)) {
    return printComplex(value);
  }
  return isObject(value) ? printObject(value, budget, depth) : printDict(value as Dict, budget, depth);
};

/** A value as Go's `%v` prints it: `1e+06`, `<nil>`, `[1 a]`, `map[a:1 b:2]` in the order of the keys' bytes. */
export const printValue = (value: unknown, budget: Budget): string => printNested(value, budget, 0);

/** Go's `fmt.Sprint`: a blank between two values of which neither is a text. */
export const sprint = (values: readonly unknown[], budget: Budget): string => {
  let out = '';
  let wasText = false;
  values.forEach((value, i) => {
    const isText = typeof value === 'string';
    out += (i > 0 && !isText && !wasText ? ' ' : '') + printValue(value, budget);
    wasText = isText;
  });
  return out;
};

/** Go's `fmt.Sprintln`. */
export const sprintln = (values: readonly unknown[], budget: Budget): string =>
  `${values.map((value) => printValue(value, budget)).join(' ')}\n`;
