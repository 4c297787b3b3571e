import { failCall } from '../errors.ts';
import type { Run } from '../run.ts';
import { type FunctionTable, fn, variadic } from '../signature.ts';
import { byteLength, byteSlice } from '../text/bytes.ts';
import { atoi } from '../text/number.ts';
import { quote } from '../text/quote.ts';
import { toLower, toUpper, trimSpace } from '../text/unicode.ts';
import { sprintf } from '../value/printf.ts';
import { int, textDict, typedList } from '../value/value.ts';
import { toText, toTexts } from './convert.ts';
import { abbreviate, deleteWhiteSpace, initials, swapCase, title, untitle, wrap } from './words.ts';

/** Splits at every `separator`; an empty one splits into characters. */
const splitText = (text: string, separator: string): string[] =>
  separator === '' ? Array.from(text) : text.split(separator);

const replaceAll = (run: Run, from: string, to: string, text: string): string => {
  const pieces = from === '' ? ['', ...Array.from(text), ''] : text.split(from);
  run.budget.characters(text.length + pieces.length * to.length);
  return pieces.join(to);
};

const trimSet = (text: string, cutset: string): string => {
  const chars = Array.from(text);
  const set = new Set(cutset);
  let from = 0;
  let to = chars.length;
  while (from < to && set.has(chars[from] ?? '')) {
    from++;
  }
  while (to > from && set.has(chars[to - 1] ?? '')) {
    to--;
  }
  return chars.slice(from, to).join('');
};

const repeat = (run: Run, count: number, text: string): string => {
  if (count < 0) {
    return failCall('strings: negative Repeat count');
  }
  run.budget.characters(count * text.length);
  return text.repeat(count);
};

const indent = (run: Run, spaces: number, text: string): string => {
  if (spaces < 0) {
    return failCall('strings: negative Repeat count');
  }
  const lines = text.split('\n');
  run.budget.characters(text.length + lines.length * spaces);
  const pad = ' '.repeat(spaces);
  return lines.map((line) => pad + line).join('\n');
};

/** The text is cut in bytes; a negative count keeps the end. */
const trunc = (count: number, text: string): string => {
  const length = byteLength(text);
  if (count < 0 && length + count > 0) {
    return byteSlice(text, length + count, length);
  }
  return count >= 0 && length > count ? byteSlice(text, 0, count) : text;
};

const substring = (start: number, end: number, text: string): string => {
  const length = byteLength(text);
  const from = Math.max(start, 0);
  const to = start >= 0 && (end < 0 || end > length) ? length : end;
  if (from > to || to < 0 || to > length) {
    return failCall(`runtime error: slice bounds out of range [${from}:${to}] of a text of ${length} bytes`);
  }
  return byteSlice(text, from, to);
};

const present = (values: readonly unknown[]): unknown[] =>
  values.filter((value) => value !== null && value !== undefined);

const splitDict = (parts: readonly string[]) => textDict(parts.map((part, i) => [`_${i}`, part] as const));

const splitLimited = (text: string, separator: string, limit: number): string[] => {
  if (limit === 0) {
    return [];
  }
  const parts = splitText(text, separator);
  return limit < 0 || parts.length <= limit
    ? parts
    : [...parts.slice(0, limit - 1), parts.slice(limit - 1).join(separator)];
};

/** sprig's functions on texts. */
export const STRING_FUNCTIONS: FunctionTable = {
  hello: fn([], () => 'Hello!'),
  abbrev: fn(['int', 'string'], (_run, width, text) => (width < 4 ? text : abbreviate(text, 0, width))),
  abbrevboth: fn(['int', 'int', 'string'], (_run, left, right, text) =>
    right < 4 || (left > 0 && right < 7) ? text : abbreviate(text, left, right),
  ),
  trunc: fn(['int', 'string'], (_run, count, text) => trunc(count, text)),
  trim: fn(['string'], (_run, text) => trimSpace(text)),
  upper: fn(['string'], (_run, text) => toUpper(text)),
  lower: fn(['string'], (_run, text) => toLower(text)),
  title: fn(['string'], (_run, text) => title(text)),
  untitle: fn(['string'], (_run, text) => untitle(text)),
  substr: fn(['int', 'int', 'string'], (_run, start, end, text) => substring(start, end, text)),
  repeat: fn(['int', 'string'], repeat),
  trimall: fn(['string', 'string'], (_run, cutset, text) => trimSet(text, cutset)),
  trimAll: fn(['string', 'string'], (_run, cutset, text) => trimSet(text, cutset)),
  trimSuffix: fn(['string', 'string'], (_run, end, text) =>
    end !== '' && text.endsWith(end) ? text.slice(0, -end.length) : text,
  ),
  trimPrefix: fn(['string', 'string'], (_run, start, text) =>
    text.startsWith(start) ? text.slice(start.length) : text,
  ),
  nospace: fn(['string'], (_run, text) => deleteWhiteSpace(text)),
  initials: fn(['string'], (_run, text) => initials(text)),
  swapcase: fn(['string'], (_run, text) => swapCase(text)),
  wrap: fn(['int', 'string'], (run, width, text) => wrap(run.budget, text, width, '\n', false)),
  wrapWith: fn(['int', 'string', 'string'], (run, width, separator, text) =>
    wrap(run.budget, text, width, separator === '' ? '\n' : separator, true),
  ),
  contains: fn(['string', 'string'], (_run, part, text) => text.includes(part)),
  hasPrefix: fn(['string', 'string'], (_run, start, text) => text.startsWith(start)),
  hasSuffix: fn(['string', 'string'], (_run, end, text) => text.endsWith(end)),
  quote: variadic([], 'any', (run, ...values) =>
    present(values)
      .map((value) => quote(toText(value, run.budget)))
      .join(' '),
  ),
  squote: variadic([], 'any', (run, ...values) =>
    present(values)
      .map((value) => `'${toText(value, run.budget)}'`)
      .join(' '),
  ),
  cat: variadic([], 'any', (run, ...values) => {
    const shown = present(values);
    return sprintf(shown.map(() => '%v').join(' '), shown, run.budget);
  }),
  indent: fn(['int', 'string'], indent),
  nindent: fn(['int', 'string'], (run, spaces, text) => `\n${indent(run, spaces, text)}`),
  replace: fn(['string', 'string', 'string'], replaceAll),
  plural: fn(['string', 'string', 'int'], (_run, one, many, count) => (count === 1 ? one : many)),
  toString: fn(['any'], (run, value) => toText(value, run.budget)),
  toStrings: fn(['any'], (run, value) => typedList('string', toTexts(value, run.budget))),
  atoi: fn(['string'], (_run, text) => int(atoi(text))),
  split: fn(['string', 'string'], (run, separator, text) => {
    run.budget.step(text.length);
    return splitDict(splitText(text, separator));
  }),
  splitn: fn(['string', 'int', 'string'], (run, separator, limit, text) => {
    run.budget.step(text.length);
    return splitDict(splitLimited(text, separator, limit));
  }),
  splitList: fn(['string', 'string'], (run, separator, text) => {
    const parts = splitText(text, separator);
    run.budget.step(parts.length);
    return typedList('string', parts);
  }),
  join: fn(['string', 'any'], (run, separator, value) => {
    const texts = toTexts(value, run.budget);
    run.budget.characters(texts.reduce((sum, text) => sum + text.length + separator.length, 0));
    return texts.join(separator);
  }),
};
