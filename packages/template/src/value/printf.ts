import type { Budget } from '../budget.ts';
import { type Flags, noFlags } from './format-flags.ts';
import { formatExtra, formatValue } from './format-value.ts';
import { isInt } from './value.ts';

/** Largest width, precision and argument number that Go accepts. */
const TOO_LARGE = 1e6;

interface Format {
  readonly text: string;
  readonly args: readonly unknown[];
  readonly budget: Budget;
  at: number;
  arg: number;
  isReordered: boolean;
  isGoodIndex: boolean;
  /** The item just read was an index such as `[3]`. */
  isAfterIndex: boolean;
}

const SIGNS: Readonly<Record<string, (flags: Flags) => void>> = {
  '#': (flags) => {
    flags.sharp = true;
  },
  '0': (flags) => {
    flags.zero = !flags.minus;
  },
  '+': (flags) => {
    flags.plus = true;
  },
  '-': (flags) => {
    flags.minus = true;
    flags.zero = false;
  },
  ' ': (flags) => {
    flags.space = true;
  },
};

const readDigits = (format: Format): number | undefined => {
  const from = format.at;
  let value = 0;
  for (; /^[0-9]$/.test(format.text.charAt(format.at)); format.at++) {
    if (value > TOO_LARGE) {
      format.at = format.text.length;
      return undefined;
    }
    value = value * 10 + Number(format.text.charAt(format.at));
  }
  return format.at === from ? undefined : value;
};

/** Reads an argument index `[n]`, if one stands here. */
const readIndex = (format: Format): void => {
  if (format.text.charAt(format.at) !== '[') {
    format.isAfterIndex = false;
    return;
  }
  format.isReordered = true;
  const close = format.text.indexOf(']', format.at);
  const digits = close < 0 ? '' : format.text.slice(format.at + 1, close);
  const index = /^[0-9]{1,7}$/.test(digits) ? Number(digits) - 1 : -1;
  format.at = close < 0 ? format.at + 1 : close + 1;
  format.isAfterIndex = /^[0-9]{1,7}$/.test(digits);
  if (index >= 0 && index < format.args.length) {
    format.arg = index;
  } else {
    format.isGoodIndex = false;
  }
};

/** Takes a width or precision given by `*` from the arguments. */
const takeNumber = (format: Format): number | undefined => {
  format.at++;
  const value = format.args[format.arg];
  format.arg += format.arg < format.args.length ? 1 : 0;
  const number = isInt(value) ? Number(value.value) : undefined;
  return number === undefined || Math.abs(number) > TOO_LARGE ? undefined : number;
};

const readWidth = (format: Format, flags: Flags): string => {
  if (format.text.charAt(format.at) !== '*') {
    flags.width = readDigits(format);
    if (format.isAfterIndex && flags.width !== undefined) {
      format.isGoodIndex = false;
    }
    return '';
  }
  const width = takeNumber(format);
  format.isAfterIndex = false;
  flags.width = width === undefined ? undefined : Math.abs(width);
  if (width !== undefined && width < 0) {
    flags.minus = true;
    flags.zero = false;
  }
  return width === undefined ? '%!(BADWIDTH)' : '';
};

const readPrecision = (format: Format, flags: Flags): string => {
  if (format.text.charAt(format.at) !== '.' || format.at + 1 >= format.text.length) {
    return '';
  }
  format.at++;
  if (format.isAfterIndex) {
    format.isGoodIndex = false;
  }
  readIndex(format);
  if (format.text.charAt(format.at) !== '*') {
    flags.precision = readDigits(format) ?? 0;
    return '';
  }
  const precision = takeNumber(format);
  format.isAfterIndex = false;
  flags.precision = precision === undefined || precision < 0 ? undefined : precision;
  return flags.precision === undefined ? '%!(BADPREC)' : '';
};

const take = (format: Format, verb: string, flags: Flags): string => {
  if (verb === '%') {
    return '%';
  }
  if (!format.isGoodIndex) {
    return `%!${verb}(BADINDEX)`;
  }
  if (format.arg >= format.args.length) {
    return `%!${verb}(MISSING)`;
  }
  format.budget.characters((flags.width ?? 0) + (flags.precision ?? 0));
  return formatValue(format.args[format.arg++], verb, flags, format.budget);
};

/** One directive; `format.at` is behind its `%`. */
const directive = (format: Format): string => {
  const flags = noFlags();
  format.isGoodIndex = true;
  format.isAfterIndex = false;
  for (
    let sign = SIGNS[format.text.charAt(format.at)];
    sign !== undefined;
    sign = SIGNS[format.text.charAt(format.at)]
  ) {
    sign(flags);
    format.at++;
  }
  readIndex(format);
  const problems = readWidth(format, flags) + readPrecision(format, flags);
  if (!format.isAfterIndex) {
    readIndex(format);
  }
  const code = format.text.codePointAt(format.at);
  if (code === undefined) {
    return `${problems}%!(NOVERB)`;
  }
  const verb = String.fromCodePoint(code);
  format.at += verb.length;
  return problems + take(format, verb, flags);
};

/** Go's `fmt.Sprintf`, with what it writes for missing, superfluous and ill-fitting arguments. */
export const sprintf = (text: string, args: readonly unknown[], budget: Budget): string => {
  const format: Format = {
    text,
    args,
    budget,
    at: 0,
    arg: 0,
    isReordered: false,
    isGoodIndex: true,
    isAfterIndex: false,
  };
  let out = '';
  while (format.at < text.length) {
    const percent = text.indexOf('%', format.at);
    const end = percent < 0 ? text.length : percent;
    out += text.slice(format.at, end);
    format.at = end + 1;
    if (percent >= 0) {
      budget.step();
      out += directive(format);
    }
  }
  if (!format.isReordered && format.arg < args.length) {
    out += `%!(EXTRA ${args
      .slice(format.arg)
      .map((arg) => formatExtra(arg, budget))
      .join(', ')})`;
  }
  budget.characters(out.length);
  return out;
};
