import type { Budget } from '../budget.ts';
import { toBytes } from '../text/bytes.ts';
import { isPrint } from '../text/unicode.ts';
import { sprint } from '../value/print.ts';
import { hasType } from '../value/value.ts';

const HTML: Readonly<Record<string, string>> = {
  '\0': '\ufffd',
  '"': '&#34;',
  "'": '&#39;',
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
};

/** Escapes a text for HTML as Go does. */
export const escapeHtml = (text: string): string =>
  /[\0"'&<>]/.test(text) ? Array.from(text, (char) => HTML[char] ?? char).join('') : text;

const JS: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  '"': '\\"',
  '<': '\\u003C',
  '>': '\\u003E',
  '&': '\\u0026',
  '=': '\\u003D',
};

const escapeJsChar = (char: string): string => {
  const code = char.codePointAt(0) ?? 0;
  const isPlain = code >= 0x20 && (code < 0x80 || isPrint(char));
  return JS[char] ?? (isPlain ? char : `\\u${code.toString(16).toUpperCase().padStart(4, '0')}`);
};

/** Escapes a text for a JavaScript string as Go does. */
export const escapeJs = (text: string): string => Array.from(text, escapeJsChar).join('');

const isUnreserved = (byte: number): boolean => /[A-Za-z0-9\-_.~]/.test(String.fromCharCode(byte));

const escapeByte = (byte: number): string => {
  if (byte < 0x80 && isUnreserved(byte)) {
    return String.fromCharCode(byte);
  }
  return byte === 0x20 ? '+' : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
};

/** Go's `url.QueryEscape`. */
export const escapeQuery = (text: string): string => Array.from(toBytes(text), escapeByte).join('');

/** The arguments of an escaper as one text; nothing counts as `<no value>`. */
export const escaperText = (values: readonly unknown[], budget: Budget): string => {
  const [only] = values;
  if (values.length === 1 && typeof only === 'string') {
    return only;
  }
  const shown = values.map((value) => {
    const isText = hasType(value, '*string') && !value.isNil;
    return isText ? value.inner : value === null || value === undefined ? '<no value>' : value;
  });
  return sprint(shown, budget);
};
