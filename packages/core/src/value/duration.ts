import { z } from 'zod';
import { AppError } from '../errors.ts';

const units: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const minNanos = -(2n ** 63n);
const maxNanos = 2n ** 63n - 1n;

const invalid = (what: string, text: string): AppError =>
  new AppError('DURATION_INVALID', `${what} in duration ${JSON.stringify(text)}`, { facts: { text } });

// As Go does it, in floating point and truncated, so that 0.3333333333333333333h is 20 minutes there and here.
const fractionNanos = (digits: string, unit: bigint): bigint => {
  let fraction = 0n;
  let scale = 1;
  for (const digit of digits) {
    const next = fraction * 10n + BigInt(digit);
    if (next > maxNanos) break;
    fraction = next;
    scale *= 10;
  }
  return BigInt(Math.trunc(Number(fraction) * (Number(unit) / scale)));
};

const parseNanos = (text: string): bigint => {
  const sign = /^[-+]?/.exec(text)?.[0] ?? '';
  let rest = text.slice(sign.length);
  if (rest === '0') return 0n;
  if (rest === '') throw invalid('nothing', text);
  let nanos = 0n;
  while (rest !== '') {
    const [match = '', whole = '', fraction = '', name = ''] = /^(\d*)(?:\.(\d*))?([^\d.]*)/.exec(rest) ?? [];
    if (whole === '' && fraction === '') throw invalid('no number', text);
    if (name === '') throw invalid('missing unit', text);
    const unit = Object.hasOwn(units, name) ? units[name] : undefined;
    if (unit === undefined) throw invalid(`unknown unit ${JSON.stringify(name)}`, text);
    nanos += BigInt(whole) * unit + fractionNanos(fraction, unit);
    rest = rest.slice(match.length);
  }
  const signed = sign === '-' ? -nanos : nanos;
  if (signed < minNanos || signed > maxNanos) throw invalid('more than 64 bits of nanoseconds', text);
  return signed;
};

/**
 * A Go duration (`1m30s`, `1.5s`, `-300ms`, bare `0`) in milliseconds. Fractions carry nanoseconds: exact to the nanosecond
 * up to 52 days, to the millisecond always. Errors: `DURATION_INVALID` (missing or unknown unit, beyond 64 bits of ns).
 */
export const parseDuration = (text: string): number => {
  const nanos = parseNanos(text);
  return Number(nanos / 1_000_000n) + Number(nanos % 1_000_000n) / 1e6;
};

const decimal = (nanos: bigint, unit: bigint): string => {
  const fraction = (nanos % unit)
    .toString()
    .padStart(unit.toString().length - 1, '0')
    .replace(/0+$/, '');
  return fraction === '' ? `${nanos / unit}` : `${nanos / unit}.${fraction}`;
};

/** Milliseconds as Go prints a duration: `0s`, `1.5µs`, `300ms`, `1m30s`, `1h0m0s`. Errors: `DURATION_INVALID` beyond 64 bits of ns. */
export const formatDuration = (ms: number): string => {
  if (!Number.isFinite(ms)) throw invalid('no finite number', String(ms));
  const whole = Math.trunc(ms);
  const signed = BigInt(whole) * 1_000_000n + BigInt(Math.round((ms - whole) * 1e6));
  if (signed < minNanos || signed > maxNanos) throw invalid('more than 64 bits of nanoseconds', String(ms));
  const sign = signed < 0n ? '-' : '';
  const nanos = signed < 0n ? -signed : signed;
  if (nanos === 0n) return '0s';
  if (nanos < 1_000n) return `${sign}${nanos}ns`;
  if (nanos < 1_000_000n) return `${sign}${decimal(nanos, 1_000n)}µs`;
  if (nanos < 1_000_000_000n) return `${sign}${decimal(nanos, 1_000_000n)}ms`;
  const minutes = nanos / 60_000_000_000n;
  const seconds = `${decimal(nanos % 60_000_000_000n, 1_000_000_000n)}s`;
  if (minutes === 0n) return `${sign}${seconds}`;
  return minutes < 60n ? `${sign}${minutes}m${seconds}` : `${sign}${minutes / 60n}h${minutes % 60n}m${seconds}`;
};

/** The larger of a duration and its lower bound. */
export const atLeast = (ms: number, minMs: number): number => Math.max(ms, minMs);

/** The smaller of a duration and its upper bound. */
export const atMost = (ms: number, maxMs: number): number => Math.min(ms, maxMs);

const expectation = 'expected a duration such as "1m30s"';

/**
 * A duration in a document: Go text in, milliseconds out, and canonical text again on encode. A bare `0` is accepted; any
 * other number, and null, are refused with a sentence (EI §0.2, EI-T8).
 */
export const Duration = z.codec(z.union([z.string(), z.number()], { error: expectation }), z.number(), {
  decode: (text, context) => {
    try {
      return parseDuration(String(text));
    } catch (error) {
      const message = error instanceof AppError ? error.message : String(error);
      context.issues.push({ code: 'custom', message: `${message}; ${expectation}`, input: text });
      return z.NEVER;
    }
  },
  encode: formatDuration,
});
export type Duration = z.infer<typeof Duration>;

/** A duration that may be left out, where null means unset (EI-T8). */
export const OptionalDuration = z.preprocess((value) => value ?? undefined, Duration.optional());
