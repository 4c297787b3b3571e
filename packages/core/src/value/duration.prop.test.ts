import fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatDuration, parseDuration } from './duration.ts';

const decimals: Readonly<Record<string, number>> = { ns: 0, µs: 3, ms: 6, s: 9 };
const minutes: Readonly<Record<string, bigint>> = { h: 60n, m: 1n };

/** Adds up the printed parts in whole nanoseconds, without floating point. */
const exactNanos = (printed: string): bigint => {
  let nanos = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of printed.matchAll(/(\d+)(?:\.(\d+))?([a-zµ]+)/g)) {
    const digits = decimals[unit];
    nanos +=
      digits === undefined
        ? BigInt(whole) * (minutes[unit] ?? 0n) * 60_000_000_000n
        : BigInt(whole + fraction.padEnd(digits, '0'));
  }
  return printed.startsWith('-') ? -nanos : nanos;
};

it('nanoseconds survive both ways up to 52 days (EI §0.2)', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 52n), max: 2n ** 52n }), (nanos) => {
      const printed = formatDuration(parseDuration(`${nanos}ns`));
      expect(formatDuration(parseDuration(printed))).toBe(printed);
      expect(parseDuration(printed)).toBe(parseDuration(`${nanos}ns`));
      expect(exactNanos(printed)).toBe(nanos);
    }),
  );
});

it('whole milliseconds survive over the whole range (EI §0.2)', () => {
  fc.assert(
    fc.property(fc.integer({ min: -9_223_372_036_854, max: 9_223_372_036_854 }), (ms) => {
      expect(parseDuration(formatDuration(ms))).toBe(ms);
    }),
  );
});

it('several units add up (EI §0.2)', () => {
  const count = fc.nat({ max: 1_000 });
  fc.assert(
    fc.property(count, count, count, count, (h, m, s, ms) => {
      expect(parseDuration(`${h}h${m}m${s}s${ms}ms`)).toBe(h * 3_600_000 + m * 60_000 + s * 1_000 + ms);
    }),
  );
});
