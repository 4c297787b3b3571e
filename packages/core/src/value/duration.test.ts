import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { atLeast, atMost, Duration, formatDuration, OptionalDuration, parseDuration } from './duration.ts';

describe('Go durations (GP reading conventions, EI §0.2)', () => {
  it.each([
    ['0', 0, '0s'],
    ['+0', 0, '0s'],
    ['-0', 0, '0s'],
    ['0s', 0, '0s'],
    ['5s', 5_000, '5s'],
    ['+5s', 5_000, '5s'],
    ['-1s', -1_000, '-1s'],
    ['1m30s', 90_000, '1m30s'],
    ['90s', 90_000, '1m30s'],
    ['1h30m', 5_400_000, '1h30m0s'],
    ['1h', 3_600_000, '1h0m0s'],
    ['5m', 300_000, '5m0s'],
    ['1.5s', 1_500, '1.5s'],
    ['.5s', 500, '500ms'],
    ['1.s', 1_000, '1s'],
    ['300ms', 300, '300ms'],
    ['1500us', 1.5, '1.5ms'],
    ['1.5µs', 0.0015, '1.5µs'],
    ['1.5μs', 0.0015, '1.5µs'],
    ['1ns', 0.000001, '1ns'],
    ['-1ns', -0.000001, '-1ns'],
    ['0.5ns', 0, '0s'],
    ['1h15m30.918273645s', 4_530_918.273645, '1h15m30.918273645s'],
    ['0.3333333333333333333h', 1_200_000, '20m0s'],
    ['0.9223372036854775807h', 3_320_413.933267, '55m20.413933267s'],
    ['100h', 360_000_000, '100h0m0s'],
    ['-2562047h47m16.854775808s', -9_223_372_036_854.775, undefined],
  ])('%s', (text, ms, printed) => {
    expect(parseDuration(text)).toBeCloseTo(ms, 6);
    if (printed !== undefined) expect(formatDuration(parseDuration(text))).toBe(printed);
  });

  it.each([
    ['5', 'missing unit in duration "5"'],
    ['1.5', 'missing unit in duration "1.5"'],
    ['1s5', 'missing unit in duration "1s5"'],
    ['00', 'missing unit in duration "00"'],
    ['1d', 'unknown unit "d" in duration "1d"'],
    ['1S', 'unknown unit "S" in duration "1S"'],
    ['1 s', 'unknown unit " s" in duration "1 s"'],
    ['1toString', 'unknown unit "toString" in duration "1toString"'],
    ['', 'nothing in duration ""'],
    ['-', 'nothing in duration "-"'],
    ['s', 'no number in duration "s"'],
    ['.s', 'no number in duration ".s"'],
    ['--1s', 'no number in duration "--1s"'],
    ['1.2.3s', 'missing unit in duration "1.2.3s"'],
    ['9223372036854775808ns', 'more than 64 bits of nanoseconds in duration "9223372036854775808ns"'],
    ['3000000h', 'more than 64 bits of nanoseconds in duration "3000000h"'],
    ['-2562047h47m16.854775809s', 'more than 64 bits of nanoseconds in duration "-2562047h47m16.854775809s"'],
  ])('refuses %j', (text, message) => {
    expect(() => parseDuration(text)).toThrow(expect.objectContaining({ code: 'DURATION_INVALID', message }));
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 1e13, -1e13])('prints no %s', (ms) => {
    expect(() => formatDuration(ms)).toThrow(expect.objectContaining({ code: 'DURATION_INVALID' }));
  });

  it('whole milliseconds are exact over the whole range', () => {
    expect(formatDuration(9_223_372_036_854)).toBe('2562047h47m16.854s');
    expect(parseDuration('2562047h47m16.854s')).toBe(9_223_372_036_854);
  });

  it('atLeast and atMost bound a duration', () => {
    expect([atLeast(5, 10), atLeast(15, 10), atMost(5, 10), atMost(15, 10)]).toEqual([10, 15, 5, 10]);
  });
});

describe('durations in documents (EI §0.2, EI-T8)', () => {
  const Schema = z.strictObject({ every: Duration, quiet: OptionalDuration });

  it('text in, milliseconds out, canonical text again on encode', () => {
    expect(Schema.parse({ every: '90s', quiet: '1s' })).toEqual({ every: 90_000, quiet: 1_000 });
    expect(Duration.encode(90_000)).toBe('1m30s');
    expect(Duration.parse(0)).toBe(0);
  });

  it.each([{ every: '1s' }, { every: '1s', quiet: null }])('%j leaves the optional one unset', (document) => {
    expect(Schema.parse(document).quiet).toBeUndefined();
  });

  it.each([
    [5, 'missing unit in duration "5"; expected a duration such as "1m30s"'],
    ['x', 'no number in duration "x"; expected a duration such as "1m30s"'],
    [null, 'expected a duration such as "1m30s"'],
    [undefined, 'expected a duration such as "1m30s"'],
    [true, 'expected a duration such as "1m30s"'],
  ])('refuses %j with one sentence', (every, message) => {
    expect(Schema.safeParse({ every }).error?.issues.map((issue) => [issue.path, issue.message])).toEqual([
      [['every'], message],
    ]);
  });
});
