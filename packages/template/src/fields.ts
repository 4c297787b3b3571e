import { fail, type Run } from './run.ts';
import { typeName } from './value/types.ts';
import { type Dict, ELEMENT, type GoObject, getKey, isDict, isObject } from './value/value.ts';

const missing = (run: Run, dict: Dict, name: string): unknown => {
  switch (run.program.missingKey) {
    case 'error':
      return fail(run, `map has no entry for key "${name}"`, name);
    case 'zero':
      return zeroElement(dict);
    default:
      return undefined;
  }
};

/** The zero value of a map's elements. */
export const zeroElement = (dict: Dict): unknown => (dict[ELEMENT] === 'string' ? '' : null);

const cannot = (run: Run, value: unknown, name: string): never =>
  fail(run, `can't evaluate field ${name} in type ${typeName(value)}`, name);

const structField = (run: Run, object: GoObject, name: string, hasArgs: boolean): unknown => {
  const { fields, field } = object.shape;
  if (fields?.includes(name) !== true) {
    return cannot(run, object, name);
  }
  return hasArgs ? fail(run, `${name} has arguments but cannot be invoked as function`, name) : field?.(object, name);
};

/** The field `name` of a value; methods are looked up before by the caller. Fails as Go does where there is none. */
export const fieldOf = (run: Run, receiver: unknown, name: string, hasArgs: boolean): unknown => {
  if (isDict(receiver)) {
    if (hasArgs) {
      return fail(run, `${name} is not a method but has arguments`, name);
    }
    const value = getKey(receiver, name);
    return value === undefined ? missing(run, receiver, name) : value;
  }
  if (receiver === undefined) {
    return run.program.missingKey === 'error' ? fail(run, `nil data; no entry for key "${name}"`, name) : undefined;
  }
  if (receiver === null) {
    return fail(run, `nil pointer evaluating interface {}.${name}`, name);
  }
  return isObject(receiver) ? structField(run, receiver, name, hasArgs) : cannot(run, receiver, name);
};
