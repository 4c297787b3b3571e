import { describe, expect, it } from 'vitest';
import {
  type BackoffTable,
  decorrelatedBackoff,
  earliestDue,
  exponentialBackoff,
  isDue,
  recordFailures,
  recordSuccesses,
  retainKeys,
} from './backoff.ts';

const none: BackoffTable = new Map();
const lowest = () => 0;
const highest = () => 1 - 2 ** -32;

describe('exponentialBackoff (Law 9: 1 s … 5 min, jitter)', () => {
  it('doubles from 1 s up to 5 min', () => {
    const waits = [1, 2, 3, 4, 9, 10, 100, 5_000].map((failures) =>
      exponentialBackoff(failures, lowest, { jitter: 0 }),
    );
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 256_000, 300_000, 300_000, 300_000]);
  });

  it('stays within 1 s and 5 min and spread at both ends', () => {
    for (const failures of [1, 2, 5, 9, 10, 50, 2_000]) {
      const low = exponentialBackoff(failures, lowest);
      const high = exponentialBackoff(failures, highest);
      expect(low).toBeGreaterThanOrEqual(1_000);
      expect(high).toBeLessThanOrEqual(300_000);
      expect(high / low).toBeCloseTo(1.25, 5);
    }
  });

  it('takes other bounds', () => {
    const options = { baseMs: 10, maxMs: 90, factor: 3, jitter: 0 };
    expect([1, 2, 3, 4].map((failures) => exponentialBackoff(failures, lowest, options))).toEqual([10, 30, 90, 90]);
  });
});

describe('decorrelatedBackoff', () => {
  it('draws between base and three times the wait before, at most the maximum', () => {
    expect(decorrelatedBackoff(0, lowest)).toBe(1_000);
    expect(decorrelatedBackoff(0, highest)).toBeCloseTo(3_000, 3);
    expect(decorrelatedBackoff(10_000, lowest)).toBe(1_000);
    expect(decorrelatedBackoff(10_000, highest)).toBeCloseTo(30_000, 3);
    expect(decorrelatedBackoff(300_000, highest)).toBe(300_000);
  });

  it('clients that start together drift apart', () => {
    let state = 3;
    const random = () => {
      state = (state * 16_807) % 2_147_483_647;
      return state / 2_147_483_647;
    };
    const waits = Array.from({ length: 100 }, () => decorrelatedBackoff(decorrelatedBackoff(0, random), random));
    expect(Math.max(...waits) - Math.min(...waits)).toBeGreaterThan(3_000);
  });
});

describe('the table (Law 9: failed items back off one by one)', () => {
  const at = (now: number) => ({ now, random: lowest, options: { jitter: 0 } });

  it('a failing item waits longer each time; the others stay due', () => {
    const once = recordFailures(none, ['bad'], at(0));
    const twice = recordFailures(once, ['bad'], at(1_000));
    expect(twice.get('bad')).toEqual({ failures: 2, notBefore: 3_000 });
    expect([isDue(twice, 'bad', 2_999), isDue(twice, 'bad', 3_000), isDue(twice, 'good', 0)]).toEqual([
      false,
      true,
      true,
    ]);
    expect(once.get('bad')).toEqual({ failures: 1, notBefore: 1_000 });
  });

  it('a success forgets the failures', () => {
    const failing = recordFailures(recordFailures(none, ['a', 'b'], at(0)), ['a'], at(0));
    const healed = recordSuccesses(failing, ['a']);
    expect([...healed.keys()]).toEqual(['b']);
    expect(recordFailures(healed, ['a'], at(0)).get('a')?.failures).toBe(1);
    expect(failing.size).toBe(2);
  });

  it('names the earliest time at which one is due', () => {
    const table = recordFailures(recordFailures(none, ['a'], at(5_000)), ['b'], at(2_000));
    expect([earliestDue(none), earliestDue(table), earliestDue(recordSuccesses(table, ['b']))]).toEqual([
      undefined,
      3_000,
      6_000,
    ]);
  });

  it('drops items that are planned no more', () => {
    const table = recordFailures(none, ['a', 'gone'], at(0));
    expect([...retainKeys(table, new Set(['a', 'new'])).keys()]).toEqual(['a']);
  });
});
