import { compile, search } from 'jmespath';
import { type Budget, checkDepth } from '../budget.ts';
import { failCall } from '../errors.ts';
import { sortedKeys } from '../value/types.ts';
import {
  type Dict,
  fieldsOf,
  getKey,
  isComplex,
  isInt,
  isList,
  isObject,
  newDict,
  ownText,
  setKey,
} from '../value/value.ts';

declare module 'jmespath' {
  /** The syntax tree of an expression; throws where it has none. */
  export function compile(expression: string): unknown;
}

const MAX_EXPRESSION = 4000;

/** How many times larger than its input the result of an expression may be. */
const MAX_GROWTH = 4096;

/** The one inherited property that the library cannot do without. */
const PROTOTYPE: object = Object.create(null, { hasOwnProperty: { value: Object.prototype.hasOwnProperty } });

const copyDict = (out: Dict, dict: Dict, copy: (value: unknown) => unknown): Dict => {
  for (const key of sortedKeys(dict)) {
    setKey(out, key, copy(getKey(dict, key)));
  }
  return out;
};

/**
 * A copy as the library takes it: whole numbers as numbers, maps without the inherited properties of objects, so that
 * `constructor` is a key like any other.
 */
const toPlain = (value: unknown, budget: Budget, depth: number): unknown => {
  if (typeof value !== 'object' || value === null) {
    return value ?? null;
  }
  budget.step();
  checkDepth(depth);
  const copy = (item: unknown): unknown => toPlain(item, budget, depth + 1);
  if (isInt(value)) {
    return Number(value.value);
  }
  if (isList(value)) {
    return value.map(copy);
  }
  if (isComplex(value)) {
    return null;
  }
  if (!isObject(value)) {
    return copyDict(Object.create(PROTOTYPE), value as Dict, copy);
  }
  if (value.shape.fields !== undefined) {
    return copyDict(Object.create(PROTOTYPE), Object.fromEntries(fieldsOf(value)), copy);
  }
  return value.isNil ? null : (ownText(value) ?? null);
};

/** A result of the library as a value of the language. */
const fromPlain = (value: unknown, budget: Budget, depth: number): unknown => {
  if (typeof value !== 'object' || value === null) {
    return typeof value === 'function' ? null : (value ?? null);
  }
  budget.step();
  checkDepth(depth);
  const copy = (item: unknown): unknown => fromPlain(item, budget, depth + 1);
  return isList(value) ? value.map(copy) : copyDict(newDict(), value as Dict, copy);
};

interface Ast {
  readonly type?: string;
  /** Those of a slice are numbers, or null. */
  readonly children?: readonly (Ast | number | null)[];
  readonly value?: Ast;
}

/**
 * An upper bound of how many times larger than its input an expression's result is: lists and maps of several expressions add
 * up, steps that follow each other multiply.
 */
const growthOf = (ast: Ast | number | null): number => {
  if (ast === null || typeof ast === 'number') {
    return 1;
  }
  const growths = (ast.children ?? []).map(growthOf);
  switch (ast.type) {
    case 'MultiSelectList':
    case 'MultiSelectHash':
    case 'Function':
      return growths.reduce((sum, growth) => sum + growth, 1);
    case 'KeyValuePair':
      return ast.value === undefined ? 1 : growthOf(ast.value);
    default:
      return growths.reduce((product, growth) => product * growth, 1);
  }
};

const checkGrowth = (expression: string): void => {
  if (expression.length > MAX_EXPRESSION) {
    failCall(`the expression is longer than ${MAX_EXPRESSION} characters`);
  }
  if (growthOf(compile(expression) as Ast) > MAX_GROWTH) {
    failCall('the result of the expression could be too large');
  }
};

/** What a JMESPath expression selects from a value; null where it selects nothing. */
export const query = (expression: string, target: unknown, budget: Budget): unknown => {
  budget.step(expression.length);
  checkGrowth(expression);
  if (isObject(target) && target.shape.fields === undefined && !target.isNil) {
    return failCall(`nothing can be queried in a value of type ${target.shape.type}; decode it first`);
  }
  return fromPlain(search(toPlain(target, budget, 0), expression), budget, 0);
};
