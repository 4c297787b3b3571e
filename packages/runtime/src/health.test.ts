import { expect, test } from 'vitest';
import { loopHealth } from './health.ts';

const limits = { syncIntervalMs: 5_000, callTimeoutMs: 10_000 };

test.each([
  ['just completed', 100_000, 0, true],
  ['three intervals and one call ago', 75_000, 25_000, true],
  ['longer ago', 74_999, 25_001, false],
])('Law 10: a loop whose last cycle was completed %s', (_, completedMs, ageMs, isHealthy) => {
  expect(loopHealth({ startedMs: 0, completedMs, nowMs: 100_000 }, limits)).toEqual({ isHealthy, ageMs });
});

test('Law 10: before the first cycle is completed, the age counts from the start', () => {
  expect(loopHealth({ startedMs: 90_000, completedMs: null, nowMs: 100_000 }, limits)).toEqual({
    isHealthy: true,
    ageMs: 10_000,
  });
  expect(loopHealth({ startedMs: 0, completedMs: null, nowMs: 100_000 }, limits).isHealthy).toBe(false);
});
