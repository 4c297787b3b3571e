import { type Budget, checkDepth } from '../budget.ts';
import { type Flags, noFlags, pad } from './format-flags.ts';
import { formatInt, formatNumber } from './format-number.ts';
import { formatText } from './format-text.ts';
import { sortedKeys, typeName } from './types.ts';
import {
  type Dict,
  fieldsOf,
  type GoComplex,
  type GoObject,
  getKey,
  isComplex,
  isInt,
  isList,
  isNilPointer,
  isObject,
  type List,
  ownText,
} from './value.ts';

interface Formatting {
  readonly verb: string;
  readonly flags: Flags;
  readonly budget: Budget;
}

/** What Go writes where a verb does not fit a value: `%!d(string=a)`. */
const badVerb = (how: Formatting, value: unknown): string => {
  const shown =
    value === null || value === undefined
      ? '<nil>'
      : `${typeName(value)}=${formatAny({ ...how, verb: 'v' }, value, 1)}`;
  return `%!${how.verb}(${shown})`;
};

const formatComplex = (how: Formatting, value: GoComplex): string | undefined => {
  const re = formatNumber(value.re, how.verb, how.flags);
  const im = formatNumber(value.im, how.verb, { ...how.flags, plus: true });
  return re === undefined || im === undefined ? undefined : `(${re}${im}i)`;
};

const enclose = (how: Formatting, type: string, open: string, close: string, parts: readonly string[]): string =>
  how.flags.sharpV ? `${type}{${parts.join(', ')}}` : open + parts.join(' ') + close;

const formatList = (how: Formatting, list: List, depth: number): string => {
  how.budget.step(list.length);
  const parts = list.map((item) => formatAny(how, item, depth + 1));
  return enclose(how, typeName(list), '[', ']', parts);
};

const formatDict = (how: Formatting, dict: Dict, depth: number): string => {
  const parts = sortedKeys(dict).map(
    (key) => `${formatAny(how, key, depth + 1)}:${formatAny(how, getKey(dict, key), depth + 1)}`,
  );
  return enclose(how, typeName(dict), 'map[', ']', parts);
};

const formatObject = (how: Formatting, value: GoObject, depth: number): string | undefined => {
  if (isNilPointer(value)) {
    return pad(how.flags.sharpV ? `(${value.shape.type})(nil)` : '<nil>', how.flags);
  }
  const own = ownText(value);
  if (own !== undefined) {
    return formatText(own, how.verb, how.flags);
  }
  const named = how.flags.plusV || how.flags.sharpV;
  const parts = fieldsOf(value).map(([name, field]) => (named ? `${name}:` : '') + formatAny(how, field, depth + 1));
  return enclose(how, value.shape.type, '{', '}', parts);
};

const formatNil = (how: Formatting, depth: number): string => {
  if (depth > 0) {
    return how.flags.sharpV ? 'interface {}(nil)' : '<nil>';
  }
  return how.verb === 'v' ? pad('<nil>', how.flags) : badVerb(how, null);
};

const formatBool = (how: Formatting, value: boolean): string | undefined =>
  how.verb === 't' || how.verb === 'v' ? pad(String(value), how.flags) : undefined;

const formatScalar = (how: Formatting, value: unknown): string | undefined => {
  const { verb, flags } = how;
  switch (typeof value) {
    case 'string':
      return formatText(value, verb, flags);
    case 'boolean':
      return formatBool(how, value);
    case 'number':
      return formatNumber(value, verb, flags);
    default:
      return isInt(value) ? formatInt(value.value, value.type.startsWith('u'), verb, flags) : undefined;
  }
};

/** The least that a value takes: its width, and of numbers also the digits asked for. */
const leastLength = ({ flags }: Formatting, value: unknown): number =>
  (flags.width ?? 1) + (typeof value === 'number' || isInt(value) || isComplex(value) ? (flags.precision ?? 0) : 0);

const formatAny = (how: Formatting, value: unknown, depth: number): string => {
  checkDepth(depth);
  how.budget.characters(leastLength(how, value));
  if (value === null || value === undefined) {
    return formatNil(how, depth);
  }
  if (typeof value !== 'object' || isInt(value)) {
    return formatScalar(how, value) ?? badVerb(how, value);
  }
  if (isList(value)) {
    return formatList(how, value, depth);
  }
  if (isComplex(value)) {
    return formatComplex(how, value) ?? badVerb(how, value);
  }
  return isObject(value)
    ? (formatObject(how, value, depth) ?? badVerb(how, value))
    : formatDict(how, value as Dict, depth);
};

/** A value under a verb with its flags, as Go's fmt prints it. */
export const formatValue = (value: unknown, verb: string, flags: Flags, budget: Budget): string => {
  if (verb === 'T') {
    const type = typeName(value);
    return type === '<nil>' ? pad(type, flags) : (formatText(type, 's', flags) ?? type);
  }
  if (verb === 'v') {
    const shown = { ...flags, sharpV: flags.sharp, plusV: flags.plus, sharp: false, plus: false };
    return formatAny({ verb, flags: shown, budget }, value, 0);
  }
  return formatAny({ verb, flags, budget }, value, 0);
};

/** A value as `%v`, with its type in front: what Go writes of an argument too many. */
export const formatExtra = (value: unknown, budget: Budget): string =>
  value === null || value === undefined ? '<nil>' : `${typeName(value)}=${formatValue(value, 'v', noFlags(), budget)}`;
