import type { OperandNode } from './nodes.ts';
import { describeNode } from './nodes.ts';
import { fail, type Run } from './run.ts';
import { typeName } from './value/types.ts';
import { complex, ELEMENT, hasType, int, isDict, isInt, NIL_DICT, type ParamType } from './value/value.ts';

/** Go's names of the parameter types. */
const GO_NAME: Readonly<Record<ParamType, string>> = {
  any: 'interface {}',
  value: 'reflect.Value',
  string: 'string',
  int: 'int',
  uint32: 'uint32',
  float64: 'float64',
  bool: 'bool',
  dict: 'map[string]interface {}',
  time: 'time.Time',
};

const wrongType = (run: Run, value: unknown, type: ParamType): never =>
  fail(
    run,
    value === undefined
      ? `invalid value; expected ${GO_NAME[type]}`
      : `wrong type for value; expected ${GO_NAME[type]}; got ${value === null ? 'nil' : typeName(value)}`,
  );

const textOf = (run: Run, value: unknown): unknown => {
  if (hasType(value, '*string')) {
    return value.isNil ? fail(run, 'dereference of nil pointer of type string') : value.inner;
  }
  return wrongType(run, value, 'string');
};

/** A value as an argument of a parameter type; fails as Go does where it is of another type. */
export const coerce = (run: Run, value: unknown, type: ParamType): unknown => {
  switch (type) {
    case 'any':
      return value === undefined ? null : value;
    case 'value':
      return value;
    case 'string':
      return typeof value === 'string' ? value : textOf(run, value);
    case 'int':
      return isInt(value) && value.type === 'int' ? Number(value.value) : wrongType(run, value, type);
    case 'float64':
      return typeof value === 'number' ? value : wrongType(run, value, type);
    case 'bool':
      return typeof value === 'boolean' ? value : wrongType(run, value, type);
    case 'dict':
      if (value === undefined) {
        return NIL_DICT;
      }
      return isDict(value) && value[ELEMENT] === undefined ? value : wrongType(run, value, type);
    case 'time':
      return hasType(value, 'time.Time') ? value : wrongType(run, value, type);
    case 'uint32':
      return wrongType(run, value, type);
    default:
      return type satisfies never;
  }
};

const isHexInt = (text: string): boolean => text.length > 2 && /^0[xX]/.test(text) && !/[pP]/.test(text);

/** A literal that needs no evaluation: its value, or the reason why it has none here. */
export type Constant = { readonly value: unknown } | { readonly problem: string };

type LiteralNode = Extract<OperandNode, { kind: 'bool' | 'number' | 'string' | 'nil' }>;

export const isLiteral = (node: OperandNode): node is LiteralNode =>
  node.kind === 'bool' || node.kind === 'number' || node.kind === 'string' || node.kind === 'nil';

/** A literal where any type will do: the spelling of a number decides between int, float64 and complex128. */
export const idealConstant = (node: LiteralNode): Constant => {
  if (node.kind === 'nil') {
    return { problem: 'nil is not a command' };
  }
  if (node.kind !== 'number') {
    return { value: node.value };
  }
  if (node.complex !== undefined) {
    return { value: complex(node.complex.re, node.complex.im) };
  }
  const { text } = node;
  if (node.float !== undefined && !isHexInt(text) && !text.startsWith("'") && /[.eEpP]/.test(text)) {
    return { value: node.float };
  }
  return node.int === undefined ? { problem: `${text} overflows int` } : { value: int(node.int) };
};

const expected = (what: string, node: LiteralNode): Constant => ({
  problem: `expected ${what}; found ${describeNode(node)}`,
});

const nilAs = (type: ParamType): Constant => {
  switch (type) {
    case 'any':
      return { value: null };
    case 'value':
      return { value: undefined };
    case 'dict':
      return { value: NIL_DICT };
    default:
      return { problem: `cannot assign nil to ${GO_NAME[type]}` };
  }
};

/** A literal as an argument of a parameter type. */
export const constantAs = (node: LiteralNode, type: ParamType): Constant => {
  if (node.kind === 'nil') {
    return nilAs(type);
  }
  switch (type) {
    case 'any':
    case 'value':
      return idealConstant(node);
    case 'bool':
      return node.kind === 'bool' ? { value: node.value } : expected('bool', node);
    case 'string':
      return node.kind === 'string' ? { value: node.value } : expected('string', node);
    case 'int':
      return node.kind === 'number' && node.int !== undefined ? { value: Number(node.int) } : expected('integer', node);
    case 'uint32':
      return node.kind === 'number' && node.uint !== undefined
        ? { value: Number(BigInt.asUintN(32, node.uint)) }
        : expected('unsigned integer', node);
    case 'float64':
      return node.kind === 'number' && node.float !== undefined ? { value: node.float } : expected('float', node);
    case 'dict':
    case 'time':
      return { problem: `can't handle ${describeNode(node)} for an argument of type ${GO_NAME[type]}` };
    default:
      return type satisfies never;
  }
};
