import { fromBytes, isWellFormed, toBytes } from './bytes.ts';
import { isPrint } from './unicode.ts';

const SHORT: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
};

const hex = (value: number, width: number): string => value.toString(16).padStart(width, '0');

const isSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdfff;

const quoteRune = (char: string, delimiter: string, asciiOnly: boolean): string => {
  const code = char.codePointAt(0) ?? 0;
  if (char === delimiter) {
    return `\\${char}`;
  }
  if (isSurrogate(code)) {
    return code >= 0xdc80 && code <= 0xdcff && delimiter === '"'
      ? `\\x${hex(code - 0xdc00, 2)}`
      : asciiOnly
        ? '\\ufffd'
        : '\ufffd';
  }
  if (asciiOnly ? code < 0x7f && code >= 0x20 && char !== '\\' : char !== '\\' && isPrint(char)) {
    return char;
  }
  const short = SHORT[char];
  if (short !== undefined) {
    return short;
  }
  if (code < 0x20 || code === 0x7f) {
    return `\\x${hex(code, 2)}`;
  }
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
};

/** `strconv.Quote`, or `QuoteToASCII`. */
export const quote = (text: string, asciiOnly = false): string => {
  let out = '"';
  for (const char of text) {
    out += quoteRune(char, '"', asciiOnly);
  }
  return `${out}"`;
};

/** `strconv.QuoteRune` of a code point; one that is none becomes U+FFFD. */
export const quoteCodePoint = (code: number, asciiOnly = false): string =>
  `'${quoteRune(code > 0x10ffff || code < 0 || isSurrogate(code) ? '\ufffd' : String.fromCodePoint(code), "'", asciiOnly)}'`;

/** `strconv.CanBackquote`. */
export const canBackquote = (text: string): boolean =>
  isWellFormed(text) &&
  Array.from(text).every((char) => char === '\t' || (char >= ' ' && !'`\x7f\ufeff'.includes(char)));

const SIMPLE: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
};

const HEX_WIDTH: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

interface Unquoted {
  /** The character, or the one byte that the escape stands for. */
  readonly value: string;
  readonly byte?: number;
  readonly next: number;
}

const numericEscape = (
  text: string,
  at: number,
  digits: RegExp,
  radix: number,
  letter: string,
): Unquoted | undefined => {
  const width = radix === 8 ? 3 : (HEX_WIDTH[letter] ?? 0);
  const from = radix === 8 ? at : at + 1;
  const found = text.slice(from, from + width);
  const code = Number.parseInt(found, radix);
  if (found.length !== width || !digits.test(found)) {
    return undefined;
  }
  if (radix === 8 || letter === 'x') {
    return code > 255 ? undefined : { value: String.fromCharCode(code), byte: code, next: from + width };
  }
  return code > 0x10ffff || isSurrogate(code) ? undefined : { value: String.fromCodePoint(code), next: from + width };
};

/** Reads one character or escape of a quoted literal at `at`; `undefined` where the syntax is wrong. */
const unquoteChar = (text: string, at: number, delimiter: string): Unquoted | undefined => {
  const char = String.fromCodePoint(text.codePointAt(at) ?? 0);
  if (char === delimiter || char === '\n') {
    return undefined;
  }
  if (char !== '\\') {
    return { value: char, next: at + char.length };
  }
  const letter = text.charAt(at + 1);
  const simple = letter === delimiter ? letter : SIMPLE[letter];
  if (simple !== undefined) {
    return { value: simple, next: at + 2 };
  }
  if (/^[0-7]$/.test(letter)) {
    return numericEscape(text, at + 1, /^[0-7]+$/, 8, letter);
  }
  return HEX_WIDTH[letter] === undefined ? undefined : numericEscape(text, at + 1, /^[0-9a-fA-F]+$/, 16, letter);
};

/** `strconv.Unquote` of a literal in double or back quotes; `undefined` where the syntax is wrong. */
export const unquote = (literal: string): string | undefined => {
  const inside = literal.slice(1, -1);
  if (literal.startsWith('`')) {
    return inside.replaceAll('\r', '');
  }
  if (!/[\\\n]/.test(inside)) {
    return inside;
  }
  let out = '';
  let raw = false;
  for (let i = 0; i < inside.length; ) {
    const read = unquoteChar(inside, i, '"');
    if (read === undefined) {
      return undefined;
    }
    const isByte = read.byte !== undefined && read.byte > 0x7f;
    out += isByte ? String.fromCharCode(0xdc00 + (read.byte ?? 0)) : read.value;
    raw ||= isByte;
    i = read.next;
  }
  return raw ? fromBytes(toBytes(out)) : out;
};

/** The code point of a character constant such as `'\n'`. */
export const unquoteRune = (literal: string): { readonly code: number } | { readonly problem: string } => {
  const read = literal === "''" ? undefined : unquoteChar(literal, 1, "'");
  if (read === undefined) {
    return { problem: 'invalid syntax' };
  }
  return literal.slice(read.next) === "'"
    ? { code: read.value.codePointAt(0) ?? 0 }
    : { problem: `malformed character constant: ${literal}` };
};
