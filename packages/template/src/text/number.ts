/** Reading numbers from text as Go's strconv does. */

const PREFIX: Readonly<Record<string, number>> = { x: 16, o: 8, b: 2 };

const DIGITS: Readonly<Record<number, RegExp>> = { 2: /^[01]+$/, 8: /^[0-7]+$/, 10: /^[0-9]+$/, 16: /^[0-9a-f]+$/ };

/** Underscores may stand between digits, and behind the prefix of a base. */
const underscoresFit = (text: string): boolean => {
  const body = text.replace(/^[-+]/, '');
  const isHex = /^0x/i.test(body);
  const digits = /^0[xob]/i.test(body) ? `0${body.slice(2)}` : body;
  return !digits.includes('_') || !(isHex ? /(^|[^0-9a-f])_|_([^0-9a-f]|$)/i : /(^|[^0-9])_|_([^0-9]|$)/).test(digits);
};

/** Longer texts are taken for no numbers: reading them would take time that grows faster than they do. */
const MAX_LENGTH = 2000;

const magnitude = (body: string): bigint | undefined => {
  if (body.length > MAX_LENGTH) {
    return undefined;
  }
  const lower = body.toLowerCase();
  const prefix = lower.startsWith('0') ? (PREFIX[lower.charAt(1)] ?? (lower.length > 1 ? 8 : 10)) : 10;
  const skip = prefix === 10 ? 0 : PREFIX[lower.charAt(1)] === undefined ? 1 : 2;
  const digits = lower.slice(skip).replaceAll('_', '');
  if (!underscoresFit(lower) || DIGITS[prefix]?.test(digits) !== true) {
    return undefined;
  }
  const radix = prefix === 16 ? '0x' : prefix === 8 ? '0o' : prefix === 2 ? '0b' : '';
  return BigInt(radix + digits);
};

/** `strconv.ParseUint(text, 0, 64)`. */
export const parseUint = (text: string): bigint | undefined => {
  const value = magnitude(text);
  return value === undefined || value >= 1n << 64n ? undefined : value;
};

/** `strconv.ParseInt(text, 0, 64)`: the base comes from the prefix. */
export const parseInt0 = (text: string): bigint | undefined => {
  const value = magnitude(text.replace(/^[+-]/, ''));
  if (value === undefined) {
    return undefined;
  }
  const signed = text.startsWith('-') ? -value : value;
  return BigInt.asIntN(64, signed) === signed ? signed : undefined;
};

/** `strconv.ParseInt(text, 10, 64)`. */
export const parseInt10 = (text: string): bigint | undefined => {
  if (!/^[+-]?[0-9]+$/.test(text) || text.length > MAX_LENGTH) {
    return undefined;
  }
  const value = BigInt(text.replace(/^\+/, ''));
  return BigInt.asIntN(64, value) === value ? value : undefined;
};

const MAX_INT64 = 2n ** 63n - 1n;

/** `strconv.Atoi` without its error: 0 for what is no number, the nearest int64 for one that is too large. */
export const atoi = (text: string): bigint => {
  const [, sign = '', digits = '', rest = ''] = /^([+-]?)([0-9]*)(.*)$/s.exec(text.slice(0, MAX_LENGTH)) ?? [];
  const value = BigInt(`0${digits.replace(/^0+/, '').slice(0, 30)}`);
  if (digits === '' || (rest !== '' && value < 2n ** 64n)) {
    return 0n;
  }
  return sign === '-' ? (value > MAX_INT64 ? -MAX_INT64 - 1n : -value) : value > MAX_INT64 ? MAX_INT64 : value;
};

const HEX_FLOAT = /^([+-]?)0x([0-9a-f]*)\.?([0-9a-f]*)p([+-]?[0-9]+)$/i;

const parseHexFloat = (text: string): number | undefined => {
  const [, sign, whole = '', fraction = '', exponent = '0'] = HEX_FLOAT.exec(text) ?? [];
  const digits = whole + fraction;
  if (digits === '') {
    return undefined;
  }
  const power = Number(exponent) - 4 * fraction.length;
  const value = Number(BigInt(`0x${digits}`)) * 2 ** Math.max(-1100, Math.min(1100, power));
  return sign === '-' ? -value : value;
};

const SPECIAL = /^[+-]?(inf|infinity)$|^nan$/i;

/** `strconv.ParseFloat(text, 64)`; undefined where it is no number, or too large. */
export const parseFloat64 = (text: string): number | undefined => {
  if (SPECIAL.test(text)) {
    return /nan/i.test(text) ? Number.NaN : text.startsWith('-') ? -Infinity : Infinity;
  }
  if (text.length > MAX_LENGTH || !underscoresFit(text)) {
    return undefined;
  }
  const plain = text.replaceAll('_', '');
  const value = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : parseHexFloat(plain);
  return value === undefined || !Number.isFinite(value) ? undefined : value;
};
