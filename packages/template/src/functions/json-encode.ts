import { type Budget, checkDepth } from '../budget.ts';
import { failCall } from '../errors.ts';
import { settle } from '../text/bytes.ts';
import { printFloat, shortest } from '../text/float.ts';
import { sortedKeys } from '../value/types.ts';
import {
  type Dict,
  fieldsOf,
  type GoObject,
  getKey,
  isComplex,
  isInt,
  isList,
  isNilDict,
  isNilPointer,
  isObject,
  type List,
} from '../value/value.ts';

interface Layout {
  readonly budget: Budget;
  readonly escapesHtml: boolean;
  /** What begins a line and what a level adds; undefined for one line. */
  readonly indent: { readonly prefix: string; readonly step: string } | undefined;
  /** Keys of a map in the order in which they are written. */
  readonly keysOf: (dict: Dict) => readonly string[];
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
  layout.budget.characters((indent.prefix.length + indent.step.length * depth) * parts.length);
  return open + line(depth + 1) + parts.join(`,${line(depth + 1)}`) + line(depth) + close;
};

const encodeList = (layout: Layout, list: List, depth: number): string => {
  layout.budget.step(list.length);
  const parts = list.map((item) => encode(layout, item, depth + 1));
  return enclose(layout, '[', ']', parts, depth);
};

const encodeDict = (layout: Layout, dict: Dict, depth: number): string => {
  const keys = layout.keysOf(dict);
  layout.budget.step(keys.length);
  const colon = layout.indent === undefined ? ':' : ': ';
  const parts = keys.map(
    (key) => encodeText(key, layout.escapesHtml) + colon + encode(layout, getKey(dict, key), depth + 1),
  );
  return enclose(layout, '{', '}', parts, depth);
};

const inDocumentOrder = (dict: Dict): readonly string[] => Object.keys(dict);

const encodeObject = (layout: Layout, value: GoObject, depth: number): string => {
  if (isNilPointer(value)) {
    return 'null';
  }
  const json = value.shape.json?.(value);
  return json === undefined
    ? encodeFields(layout, value, depth)
    : encode({ ...layout, keysOf: inDocumentOrder }, JSON.parse(json), depth);
};

/** The fields of a struct come in the order of its declaration; maps in them are sorted as ever. */
const encodeFields = (layout: Layout, value: GoObject, depth: number): string => {
  const colon = layout.indent === undefined ? ':' : ': ';
  const parts = fieldsOf(value).map(
    ([key, field]) => encodeText(key, layout.escapesHtml) + colon + encode(layout, field, depth + 1),
  );
  return enclose(layout, '{', '}', parts, depth);
};

const encode = (layout: Layout, value: unknown, depth: number): string => {
  checkDepth(depth);
  switch (typeof value) {
    case 'string': {
      layout.budget.characters(value.length);
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
  return isObject(value) ? encodeObject(layout, value, depth) : encodeDict(layout, value as Dict, depth);
};

/** JSON on one line, keys sorted, as Go's `json.Marshal`. */
export const encodeJson = (value: unknown, budget: Budget, escapesHtml = true): string =>
  encode({ budget, escapesHtml, indent: undefined, keysOf: sortedKeys }, value, 0);

/** JSON on many lines, as Go's `json.MarshalIndent`. */
export const encodeJsonIndent = (value: unknown, budget: Budget, prefix: string, step: string): string =>
  encode({ budget, escapesHtml: true, indent: { prefix, step }, keysOf: sortedKeys }, value, 0);
