/** Decimal digits `0.d1d2d3… × 10^point`, without trailing noughts; nought is no digits at all. */
export interface Decimal {
  readonly digits: string;
  readonly point: number;
}

const view = new DataView(new ArrayBuffer(8));

/** Mantissa and exponent of a finite float: `mantissa × 2^exponent`. */
const split = (value: number): { readonly mantissa: bigint; readonly exponent: number } => {
  view.setFloat64(0, Math.abs(value));
  const bits = view.getBigUint64(0);
  const biased = Number(bits >> 52n);
  const fraction = bits & 0xfffffffffffffn;
  return biased === 0
    ? { mantissa: fraction, exponent: -1074 }
    : { mantissa: fraction | 0x10000000000000n, exponent: biased - 1075 };
};

const trimmed = (digits: string, point: number): Decimal => {
  const significant = digits.replace(/0+$/, '');
  return significant === '' ? { digits: '', point: 0 } : { digits: significant, point };
};

/** The fewest digits that read back as the same float. */
export const shortest = (value: number): Decimal => {
  const [coefficient = '', exponent = '0'] = Math.abs(value).toExponential().split('e');
  return value === 0 ? { digits: '', point: 0 } : trimmed(coefficient.replace('.', ''), Number(exponent) + 1);
};

/** All digits of a float. */
const exact = (value: number): Decimal => {
  const { mantissa, exponent } = split(value);
  if (mantissa === 0n) {
    return { digits: '', point: 0 };
  }
  if (exponent >= 0) {
    const whole = (mantissa << BigInt(exponent)).toString();
    return trimmed(whole, whole.length);
  }
  const scaled = (mantissa * 5n ** BigInt(-exponent)).toString();
  return trimmed(scaled, scaled.length + exponent);
};

/** The first `count` digits, the last rounded half to even on the exact value. */
const rounded = (value: number, countOf: (point: number) => number): Decimal => {
  const all = exact(value);
  const count = countOf(all.point);
  if (count >= all.digits.length) {
    return all;
  }
  if (count < 0) {
    return { digits: '', point: 0 };
  }
  const kept = all.digits.slice(0, count);
  const rest = all.digits.slice(count);
  const half = rest.charCodeAt(0) - 0x35;
  const isUp = half > 0 || (half === 0 && (rest.length > 1 || Number(kept.at(-1) ?? '0') % 2 === 1));
  if (!isUp) {
    return trimmed(kept, all.point);
  }
  const next = (BigInt(`0${kept}`) + 1n).toString();
  return trimmed(next, all.point + (next.length - Math.max(kept.length, 0)));
};

const exponentForm = (d: Decimal, precision: number, letter: string): string => {
  const digits = d.digits === '' ? '0' : d.digits;
  const tail = digits.slice(1).padEnd(Math.max(0, precision), '0');
  const exponent = d.digits === '' ? 0 : d.point - 1;
  const size = Math.abs(exponent).toString().padStart(2, '0');
  return `${digits.charAt(0)}${tail === '' ? '' : `.${tail}`}${letter}${exponent < 0 ? '-' : '+'}${size}`;
};

const pointForm = (d: Decimal, precision: number): string => {
  const whole = d.point > 0 ? d.digits.slice(0, d.point).padEnd(d.point, '0') : '0';
  const fraction = (d.point > 0 ? d.digits.slice(d.point) : '0'.repeat(Math.min(-d.point, precision)) + d.digits)
    .slice(0, precision)
    .padEnd(precision, '0');
  return fraction === '' ? whole : `${whole}.${fraction}`;
};

const general = (d: Decimal, precision: number, isShortest: boolean, letter: string): string => {
  const limit = isShortest
    ? 6
    : precision > d.digits.length && d.digits.length >= d.point
      ? d.digits.length
      : precision;
  const exponent = d.point - 1;
  if (d.digits !== '' && (exponent < -4 || exponent >= limit)) {
    return exponentForm(d, d.digits.length - 1, letter);
  }
  return pointForm(d, Math.max(0, d.digits.length - d.point));
};

const binary = (value: number): string => {
  const { mantissa, exponent } = split(value);
  return `${mantissa}p${exponent < 0 ? '-' : '+'}${Math.abs(exponent)}`;
};

/** Hexadecimal form `0x1.8p+01`; a precision rounds half to even. */
const hexadecimal = (value: number, precision: number, isUpper: boolean): string => {
  let { mantissa, exponent } = split(value);
  if (mantissa !== 0n) {
    while (mantissa < 1n << 60n) {
      mantissa <<= 1n;
      exponent--;
    }
  }
  exponent = mantissa === 0n ? 0 : exponent + 60;
  if (precision >= 0 && precision < 15) {
    const shift = BigInt(precision * 4);
    const extra = (mantissa << shift) & ((1n << 60n) - 1n);
    mantissa >>= 60n - shift;
    if ((extra | (mantissa & 1n)) > 1n << 59n) {
      mantissa++;
    }
    mantissa <<= 60n - shift;
    if (mantissa >= 1n << 61n) {
      mantissa >>= 1n;
      exponent++;
    }
  }
  const fraction = (mantissa & ((1n << 60n) - 1n)).toString(16).padStart(15, '0');
  const shown = precision < 0 ? fraction.replace(/0+$/, '') : fraction.slice(0, precision).padEnd(precision, '0');
  const size = Math.abs(exponent).toString().padStart(2, '0');
  const out = `0x${(mantissa >> 60n).toString(16)}${shown === '' ? '' : `.${shown}`}p${exponent < 0 ? '-' : '+'}${size}`;
  return isUpper ? out.toUpperCase() : out;
};

const formatMagnitude = (value: number, verb: string, precision: number): string => {
  const isShortest = precision < 0;
  switch (verb) {
    case 'b':
      return binary(value);
    case 'x':
    case 'X':
      return hexadecimal(value, precision, verb === 'X');
    case 'e':
    case 'E': {
      const d = isShortest ? shortest(value) : rounded(value, () => precision + 1);
      return exponentForm(d, isShortest ? Math.max(0, d.digits.length - 1) : precision, verb);
    }
    case 'f': {
      const d = isShortest ? shortest(value) : rounded(value, (point) => point + precision);
      return pointForm(d, isShortest ? Math.max(0, d.digits.length - d.point) : precision);
    }
    default: {
      const count = precision === 0 ? 1 : precision;
      const d = isShortest ? shortest(value) : rounded(value, () => count);
      return general(d, count, isShortest, verb === 'G' ? 'E' : 'e');
    }
  }
};

/**
 * `strconv.FormatFloat(value, verb, precision, 64)` for the verbs b e E f g G x X; precision −1 asks for the fewest digits.
 * A sign is written for negative values only.
 */
export const formatFloat = (value: number, verb: string, precision: number): string => {
  if (Number.isNaN(value)) {
    return 'NaN';
  }
  if (!Number.isFinite(value)) {
    return value < 0 ? '-Inf' : '+Inf';
  }
  return (value < 0 || Object.is(value, -0) ? '-' : '') + formatMagnitude(value, verb, precision);
};

/** A float as `%v` prints it: `1e+06`, `2.5`, `100000`. */
export const printFloat = (value: number): string => {
  if (Number.isInteger(value) && value < 1e6 && value > -1e6 && !Object.is(value, -0)) {
    return String(value);
  }
  return formatFloat(value, 'g', -1);
};
