/** Reading numbers from text as Go's strconv does. */

const PREFIX: Readonly<Record<string, number>> = { x: 16, o: 8, b: 2 };

const DIGITS: Readonly<Record<number, RegExp>> = { 2: /^[01]+$/, 8: /^[0-7]+$/, 10: /^[0-9]+$/, 16: /^[0-9a-f]+$/ };

/** Underscores may stand between digits and after a base prefix only. */
const underscoresFit = (body: string): boolean =>
  !body.includes('_') || /^(0[xob]?_?)?[0-9a-f](_?[0-9a-f])*$/i.test(body);

const magnitude = (body: string): bigint | undefined => {
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
  if (!/^[+-]?[0-9]+$/.test(text) || text.length > 400) {
    return undefined;
  }
  const value = BigInt(text.replace(/^\+/, ''));
  return BigInt.asIntN(64, value) === value ? value : undefined;
};

const HEX_FLOAT = /^([+-]?)0x([0-9a-f_]*)\.?([0-9a-f_]*)p([+-]?[0-9_]+)$/i;

const parseHexFloat = (text: string): number | undefined => {
  const [, sign, whole = '', fraction = '', exponent = '0'] = HEX_FLOAT.exec(text) ?? [];
  const digits = (whole + fraction).replaceAll('_', '');
  if (digits === '' || digits.length > 400) {
    return undefined;
  }
  const power = Number(exponent.replaceAll('_', '')) - 4 * fraction.replaceAll('_', '').length;
  const value = Number(BigInt(`0x${digits}`)) * 2 ** Math.max(-1100, Math.min(1100, power));
  return sign === '-' ? -value : value;
};

const SPECIAL = /^[+-]?(inf|infinity)$|^nan$/i;

/**
 * `strconv.ParseFloat(text, 64)`, with underscores refused unless a base prefix stands in front. `undefined` where it is
 * no number, or too large.
 */
export const parseFloat64 = (text: string): number | undefined => {
  if (SPECIAL.test(text)) {
    return /nan/i.test(text) ? Number.NaN : text.startsWith('-') ? -Infinity : Infinity;
  }
  const value = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : parseHexFloat(text);
  return value === undefined || !Number.isFinite(value) ? undefined : value;
};
