import { type Budget, checkDepth } from '../budget.ts';
import { failCall } from '../errors.ts';
import { settle } from '../text/bytes.ts';
import { printFloat, shortest } from '../text/float.ts';
import { sortedKeys } from '../value/types.ts';
import { type Dict, getKey, isComplex, isInt, isList, isNilDict, isObject, type List } from '../value/value.ts';

interface Layout {
  readonly budget: Budget;
  readonly escapesHtml: boolean;
  /** What begins a line and what a level adds; undefined for one line. */
  readonly indent: { readonly prefix: string; readonly step: string } | undefined;
}

const escapeUnit = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;

const CONTROL_ESCAPES: Readonly<Record<string, string>> = { '\\b': '\\u0008', '\\f': '\\u000c' };

/** A JSON string as Go writes it: `<`, `>`, `&`, U+2028 and U+2029 are escaped too. */
const encodeText = (text: string, escapesHtml: boolean): string => {
  const quoted = JSON.stringify(settle(text)).replace(/\\\\|\\[bf]/g, (found) => CONTROL_ESCAPES[found] ?? found);
  return quoted.replace(escapesHtml ? /[<>&\u2028\u2029]/g : /[\u2028\u2029]/g, escapeUnit);
};

/** A float as Go's encoding/json writes it. */
const encodeFloat = (value: number): string => {
  if (!Number.isFinite(value)) {
    return failCall(`json: unsupported value: ${printFloat(value)}`);
  }
  const text = String(value);
  if (value === 0) {
    return Object.is(value, -0) ? '-0' : '0';
  }
  const magnitude = Math.abs(value);
  if (magnitude >= 1e-6 && magnitude < 1e21) {
    return text;
  }
  const { digits, point } = shortest(value);
  const exponent = point - 1;
  const sign = value < 0 ? '-' : '';
  const size = Math.abs(exponent);
  return `${sign}${digits.charAt(0)}${digits.length > 1 ? `.${digits.slice(1)}` : ''}e${exponent < 0 ? '-' : '+'}${exponent < 0 ? size : String(size).padStart(2, '0')}`;
};

const enclose = (layout: Layout, open: string, close: string, parts: readonly string[], depth: number): string => {
  if (parts.length === 0) {
    return open + close;
  }
  const { indent } = layout;
  if (indent === undefined) {
    return open + parts.join(',') + close;
  }
  const line = (level: number): string => `\n${indent.prefix}${indent.step.repeat(level)}`;
  layout.budget.produce((indent.prefix.length + indent.step.length * depth) * parts.length);
  return open + line(depth + 1) + parts.join(`,${line(depth + 1)}`) + line(depth) + close;
};

const encodeList = (layout: Layout, list: List, depth: number): string => {
  layout.budget.step(list.length);
  const parts = list.map((item) => encode(layout, item, depth + 1));
  return enclose(layout, '[', ']', parts, depth);
};

const encodeDict = (layout: Layout, dict: Dict, keys: readonly string[], depth: number): string => {
  layout.budget.step(keys.length);
  const colon = layout.indent === undefined ? ':' : ': ';
  const parts = keys.map((key) => encodeText(key, layout.escapesHtml) + colon + encode(layout, getKey(dict, key), depth + 1));
  return enclose(layout, '{', '}', parts, depth);
};

/** Raw JSON keeps the order of its keys. */
const encodeRaw = (layout: Layout, value: unknown, depth: number): string =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? encodeDict(layout, value as Dict, Object.keys(value), depth)
    : encode(layout, value, depth);

const encode = (layout: Layout, value: unknown, depth: number): string => {
  checkDepth(depth);
  switch (typeof value) {
    case 'string': {
      layout.budget.produce(value.length);
      return encodeText(value, layout.escapesHtml);
    }
    case 'boolean':
      return String(value);
    case 'number':
      return encodeFloat(value);
    default:
  }
  if (value === null || value === undefined || isNilDict(value)) {
    return 'null';
  }
  layout.budget.step();
  if (isInt(value)) {
    return value.value.toString();
  }
  if (isList(value)) {
    return encodeList(layout, value, depth);
  }
  if (isComplex(value)) {
    return failCall('json: unsupported type: complex128');
  }
  if (!isObject(value)) {
    return encodeDict(layout, value as Dict, sortedKeys(value as Dict), depth);
  }
  if (value.isNil) {
    return 'null';
  }
  if (value.json !== undefined) {
    return encodeRaw(layout, JSON.parse(value.json()), depth);
  }
  const fields = (value.fields ?? {}) as Dict;
  return encodeDict(layout, fields, Object.keys(fields), depth);
};

/** JSON on one line, keys sorted, as Go's `json.Marshal`. */
export const encodeJson = (value: unknown, budget: Budget, escapesHtml = true): string =>
  encode({ budget, escapesHtml, indent: undefined }, value, 0);

/** JSON on many lines, as Go's `json.MarshalIndent`. */
export const encodeJsonIndent = (value: unknown, budget: Budget, prefix: string, step: string): string =>
  encode({ budget, escapesHtml: true, indent: { prefix, step } }, value, 0);
