import { formatFloat } from '../text/float.ts';
import { quoteCodePoint } from '../text/quote.ts';
import { isPrint } from '../text/unicode.ts';
import { type Flags, pad } from './format-flags.ts';

const RADIX: Readonly<Record<string, number>> = { v: 10, d: 10, b: 2, o: 8, O: 8, x: 16, X: 16 };

const PREFIX: Readonly<Record<string, string>> = { b: '0b', x: '0x', X: '0X' };

const signOf = (isNegative: boolean, flags: Flags): string =>
  isNegative ? '-' : flags.plus ? '+' : flags.space ? ' ' : '';

const integerDigits = (magnitude: bigint, verb: string, flags: Flags, hasSign: boolean): string => {
  let digits = magnitude.toString(RADIX[verb] ?? 10);
  digits = verb === 'X' ? digits.toUpperCase() : digits;
  const isZeroFilled = flags.precision === undefined && flags.zero && flags.width !== undefined;
  const least = flags.precision ?? (isZeroFilled ? (flags.width ?? 0) - (hasSign ? 1 : 0) : 0);
  digits = digits.padStart(least, '0');
  if (flags.sharp) {
    digits =
      verb === 'o' || verb === 'O' ? (digits.startsWith('0') ? digits : `0${digits}`) : (PREFIX[verb] ?? '') + digits;
  }
  return verb === 'O' ? `0o${digits}` : digits;
};

const formatInteger = (value: bigint, verb: string, flags: Flags): string => {
  if (flags.precision === 0 && value === 0n) {
    return ' '.repeat(flags.width ?? 0);
  }
  const sign = signOf(value < 0n, flags);
  return pad(sign + integerDigits(value < 0n ? -value : value, verb, flags, sign !== ''), flags, false);
};

const MAX_RUNE = 0x10ffffn;

/** Go takes the bits of a negative number for those of an unsigned one. */
const unsignedOf = (value: bigint): bigint => BigInt.asUintN(64, value);

const runeOf = (value: bigint): string => {
  const code = unsignedOf(value) > MAX_RUNE ? 0xfffd : Number(unsignedOf(value));
  return code >= 0xd800 && code <= 0xdfff ? '\ufffd' : String.fromCodePoint(code);
};

const formatUnicode = (value: bigint, flags: Flags): string => {
  const code = unsignedOf(value);
  const digits = code
    .toString(16)
    .toUpperCase()
    .padStart(Math.max(4, flags.precision ?? 4), '0');
  const shown = flags.sharp && code <= MAX_RUNE && isPrint(runeOf(value)) ? ` '${runeOf(value)}'` : '';
  return pad(`U+${digits}${shown}`, flags, false);
};

/** A whole number under a verb; undefined where the verb does not fit. */
export const formatInt = (value: bigint, isUnsigned: boolean, verb: string, flags: Flags): string | undefined => {
  switch (verb) {
    case 'v':
      return flags.sharpV && isUnsigned
        ? formatInteger(value, 'x', { ...flags, sharp: true })
        : formatInteger(value, verb, flags);
    case 'd':
    case 'b':
    case 'o':
    case 'O':
    case 'x':
    case 'X':
      return formatInteger(value, verb, flags);
    case 'c':
      return pad(runeOf(value), flags);
    case 'q':
      return pad(quoteCodePoint(Number(unsignedOf(value) > MAX_RUNE ? 0xfffdn : unsignedOf(value)), flags.plus), flags);
    case 'U':
      return formatUnicode(value, flags);
    default:
      return undefined;
  }
};

/** `%#g` and friends: always a point, and trailing noughts up to the precision. */
const sharpen = (text: string, verb: string, precision: number): string => {
  const [, sign = '', mantissa = '', tail = ''] = /^([-+ ]?)(0[xX][^pP]*|[^eEpP]*)((?:[eEpP].*)?)$/.exec(text) ?? [];
  const wanted = /[gGxv]/.test(verb) ? (precision === -1 ? 6 : precision) : 0;
  const significant = mantissa.replace('.', '').replace(/^0+/, '').length;
  const isNought = mantissa === '0';
  const body = mantissa.includes('.') ? mantissa : `${mantissa}.`;
  return (
    sign + body + '0'.repeat(Math.max(0, wanted - significant - (isNought && !mantissa.includes('.') ? 1 : 0))) + tail
  );
};

const FLOAT_VERBS: Readonly<Record<string, readonly [string, number]>> = {
  v: ['g', -1],
  b: ['b', -1],
  g: ['g', -1],
  G: ['G', -1],
  x: ['x', -1],
  X: ['X', -1],
  f: ['f', 6],
  F: ['f', 6],
  e: ['e', 6],
  E: ['E', 6],
};

/** A float under a verb; undefined where the verb does not fit. */
export const formatNumber = (value: number, verb: string, flags: Flags): string | undefined => {
  const how = FLOAT_VERBS[verb];
  if (how === undefined) {
    return undefined;
  }
  const precision = flags.precision ?? how[1];
  const plain = formatFloat(value, how[0], precision).replace(/^\+/, '');
  const isNegative = plain.startsWith('-');
  const magnitude = isNegative ? plain.slice(1) : plain;
  const sign = isNegative ? '-' : flags.plus ? '+' : flags.space ? ' ' : '';
  if (magnitude === 'Inf' || magnitude === 'NaN') {
    const always = magnitude === 'Inf' && sign === '' ? '+' : sign;
    return pad(always + magnitude, flags, false);
  }
  const body = flags.sharp && verb !== 'b' ? sharpen(magnitude, how[0], precision) : magnitude;
  const filled = flags.zero && sign !== '' ? body.padStart((flags.width ?? 0) - 1, '0') : body;
  return pad(sign + filled, flags);
};
