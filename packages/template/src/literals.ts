import type { NumberNode, Source, StringNode } from './nodes.ts';
import { parseFloat64, parseInt0, parseUint } from './text/number.ts';
import { unquote, unquoteRune } from './text/quote.ts';
import type { Token } from './tokens.ts';

type Readings = Pick<NumberNode, 'int' | 'uint' | 'float' | 'complex'>;

/** A literal, or the sentence that says why the token is none. */
export type Literal<T> = { readonly node: T } | { readonly problem: string };

const INT = 64;

/** Longest message about a literal. */
const LONGEST = 100;

const wholeOf = (float: number): Pick<NumberNode, 'int' | 'uint'> => {
  const whole = Number.isInteger(float) ? BigInt(float) : undefined;
  return {
    int: whole !== undefined && BigInt.asIntN(INT, whole) === whole ? whole : undefined,
    uint: whole !== undefined && BigInt.asUintN(INT, whole) === whole ? whole : undefined,
  };
};

const complexReadings = (re: number, im: number): Readings =>
  im === 0
    ? { complex: { re, im }, float: re, ...wholeOf(re) }
    : { complex: { re, im }, float: undefined, int: undefined, uint: undefined };

const runeReadings = (code: number): Readings => ({
  int: BigInt(code),
  uint: BigInt(code),
  float: code,
  complex: undefined,
});

const imaginary = (text: string): number | undefined => parseFloat64(text.replace(/i$/, ''));

const readNumber = (text: string): Readings | string => {
  if (text.endsWith('i')) {
    const im = imaginary(text);
    return im === undefined ? `illegal number syntax: ${JSON.stringify(text)}` : complexReadings(0, im);
  }
  const int = parseInt0(text);
  const uint = int === 0n ? 0n : parseUint(text);
  if (int !== undefined || uint !== undefined) {
    return { int, uint, float: Number(int ?? uint), complex: undefined };
  }
  const float = parseFloat64(text);
  if (float === undefined) {
    return `illegal number syntax: ${JSON.stringify(text)}`;
  }
  return /[.eEpP]/.test(text)
    ? { float, complex: undefined, ...wholeOf(float) }
    : `integer overflow: ${JSON.stringify(text)}`;
};

const readComplex = (text: string): Readings | string => {
  const [, re = '', im = ''] = /^(.+?)(?<![eEpP])([-+].+)i$/.exec(text) ?? [];
  const parts = [parseFloat64(re), parseFloat64(im)] as const;
  return parts[0] === undefined || parts[1] === undefined
    ? `illegal number syntax: ${JSON.stringify(text)}`
    : complexReadings(parts[0], parts[1]);
};

const readRune = (text: string): Readings | string => {
  const read = unquoteRune(text);
  return 'problem' in read ? read.problem : runeReadings(read.code);
};

/** The node of a number, character or complex token. */
export const numberLiteral = (source: Source, token: Token): Literal<NumberNode> => {
  const { text, at, kind } = token;
  const readings = kind === 'charConstant' ? readRune(text) : kind === 'complex' ? readComplex(text) : readNumber(text);
  return typeof readings === 'string'
    ? { problem: readings.length > LONGEST ? `${readings.slice(0, LONGEST)}…` : readings }
    : { node: { kind: 'number', source, at, text, ...readings } };
};

/** The node of a quoted or raw string token. */
export const stringLiteral = (source: Source, token: Token): Literal<StringNode> => {
  const value = unquote(token.text);
  return value === undefined
    ? { problem: `invalid syntax in ${token.text.slice(0, LONGEST)}` }
    : { node: { kind: 'string', source, at: token.at, literal: token.text, value } };
};
