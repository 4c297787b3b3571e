import type { Run } from '../run.ts';

/**
 * Values while a template runs.
 *
 * Go has                     here
 * nothing (reflect.Value{})  undefined
 * nil interface              null
 * string, bool, float64      string, boolean, number (so JSON needs no conversion)
 * []interface {}             array; a typed list carries ELEMENT
 * map[string]interface {}    object; a map[string]string carries ELEMENT
 * everything else            an object marked with GO
 */

/** Marks what is not plain JSON; its value tells what it is. */
const GO: unique symbol = Symbol('go');

/** Marks a list or map whose elements have a type of their own. */
export const ELEMENT: unique symbol = Symbol('element');

export type IntKind = 'int' | 'int64' | 'uint8' | 'uint64';

/** A whole number of one of Go's integer types. */
export interface GoInt {
  readonly [GO]: 'int';
  readonly type: IntKind;
  readonly value: bigint;
}

export interface GoComplex {
  readonly [GO]: 'complex';
  readonly re: number;
  readonly im: number;
}

/** Go's parameter types, by short names. */
export type ParamType = 'any' | 'value' | 'string' | 'int' | 'uint32' | 'float64' | 'bool' | 'dict' | 'time';

/**
 * A function of the language, or a method of a value. Arguments are checked against `params` and, for those beyond, `rest`
 * before `call` sees them. `call` refuses by throwing a FunctionFailure.
 */
export interface GoFunction {
  readonly params: readonly ParamType[];
  readonly rest?: ParamType | undefined;
  readonly call: (run: Run, args: readonly unknown[]) => unknown;
  /** `and` and `or` evaluate their arguments only as far as needed. */
  readonly isLazy?: boolean;
}

/** What all values of a named Go type have in common. */
export interface Shape {
  /** Go's name of the type, such as `time.Time`. */
  readonly type: string;
  /** Go's kind of the type, such as `struct` or `ptr`. */
  readonly kind: string;
  /** The fields of a struct in the order of its declaration; they are reached with a dot. */
  readonly fields?: readonly string[];
  readonly field?: (self: GoObject, name: string) => unknown;
  /** Methods are reached with a dot too; `call` gets the value itself in front of the arguments. */
  readonly methods?: Readonly<Record<string, GoFunction>>;
  /** How the value prints; absent for a struct without a String method. */
  readonly print?: (self: GoObject) => string;
  /** Raw JSON text, where the value marshals to it. */
  readonly json?: (self: GoObject) => string;
}

/** A value of a named Go type: a struct, a time, a version, raw JSON. */
export interface GoObject {
  readonly [GO]: 'object';
  readonly shape: Shape;
  /** Nil, or otherwise false. */
  readonly isNil: boolean;
  /** What the value is made of; only its shape knows what that is. */
  readonly inner: unknown;
}

export type GoValue = GoInt | GoComplex | GoObject;

export type List = unknown[] & { [ELEMENT]?: string };

export type Dict = Record<string, unknown> & { [ELEMENT]?: string };

export const isTagged = (value: object): value is GoValue => GO in value;

export const isInt = (value: unknown): value is GoInt =>
  typeof value === 'object' && value !== null && (value as Partial<GoInt>)[GO] === 'int';

export const isComplex = (value: unknown): value is GoComplex =>
  typeof value === 'object' && value !== null && (value as Partial<GoComplex>)[GO] === 'complex';

export const isObject = (value: unknown): value is GoObject =>
  typeof value === 'object' && value !== null && (value as Partial<GoObject>)[GO] === 'object';

export const makeObject = (shape: Shape, inner: unknown, isNil = false): GoObject => ({
  [GO]: 'object',
  shape,
  isNil,
  inner,
});

/** Whether a value is of the named Go type. */
export const hasType = (value: unknown, type: string): value is GoObject =>
  isObject(value) && value.shape.type === type;

/** A missing pointer, as which nil is printed and encoded. */
export const isNilPointer = (value: GoObject): boolean => value.isNil && value.shape.kind === 'ptr';

/** The text of a value that prints by itself. */
export const ownText = (value: GoObject): string | undefined => value.shape.print?.(value);

export const isList = (value: unknown): value is List => Array.isArray(value);

/** A map: any object that is neither a list nor marked. */
export const isDict = (value: unknown): value is Dict =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isTagged(value);

export const int = (value: number | bigint): GoInt => ({ [GO]: 'int', type: 'int', value: BigInt(value) });

export const int64 = (value: number | bigint): GoInt => ({
  [GO]: 'int',
  type: 'int64',
  value: BigInt.asIntN(64, BigInt(value)),
});

export const unsigned = (type: 'uint8' | 'uint64', value: number | bigint): GoInt => ({
  [GO]: 'int',
  type,
  value: BigInt(value),
});

export const complex = (re: number, im: number): GoComplex => ({ [GO]: 'complex', re, im });

/** A list whose elements are all of one Go type, such as `string`. */
export const typedList = (element: string, items: unknown[]): List => {
  const list: List = items;
  list[ELEMENT] = element;
  return list;
};

/** An empty map; any key is safe in it. */
export const newDict = (): Dict => Object.create(null) as Dict;

/** A `map[string]string`. */
export const textDict = (entries: Iterable<readonly [string, string]>): Dict => {
  const dict = newDict();
  dict[ELEMENT] = 'string';
  for (const [key, value] of entries) {
    dict[key] = value;
  }
  return dict;
};

/** Nil maps: they can be read, not written, and are null as JSON. */
export const NIL_DICT: Dict = Object.freeze(newDict());
export const NIL_TEXT_DICT: Dict = Object.freeze(textDict([]));

export const isNilDict = (value: unknown): boolean => value === NIL_DICT || value === NIL_TEXT_DICT;

export const hasKey = (dict: Dict, key: string): boolean => Object.hasOwn(dict, key);

/** The element of a map, or undefined; inherited properties do not count. */
export const getKey = (dict: Dict, key: string): unknown => {
  if (!Object.hasOwn(dict, key)) {
    return undefined;
  }
  const value = dict[key];
  return value === undefined ? null : value;
};

/** Sets an element; `__proto__` is a key like any other. */
export const setKey = (dict: Dict, key: string, value: unknown): void => {
  if (key === '__proto__') {
    Object.defineProperty(dict, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    dict[key] = value;
  }
};

/** Names and values of the fields of a struct; of other values none. */
export const fieldsOf = (value: GoObject): (readonly [string, unknown])[] =>
  (value.shape.fields ?? []).map((name) => [name, value.shape.field?.(value, name)] as const);

const VOID = makeObject({ type: 'template.Void', kind: 'string', print: () => '', json: () => '""' }, '', true);

/** What setting a variable gives: it prints nothing, and is no text for a function that wants one. */
export const voidValue = (): GoObject => VOID;

const EMPTY = makeObject({ type: 'struct {}', kind: 'struct', fields: [] }, undefined);

/** The value of `struct{}`, of which `loop` makes lists. */
export const emptyStruct = (): GoObject => EMPTY;
