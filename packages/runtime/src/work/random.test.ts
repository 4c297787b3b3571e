import { describe, expect, it } from 'vitest';
import { seededRandom } from './random.ts';

describe('seededRandom', () => {
  it('gives the same numbers for the same seed, others for another', () => {
    const draw = (seed: number) => Array.from({ length: 20 }, seededRandom(seed));
    expect(draw(1)).toEqual(draw(1));
    expect(draw(1)).not.toEqual(draw(2));
  });

  it('is uniform in [0, 1)', () => {
    const draws = Array.from({ length: 100_000 }, seededRandom(42));
    const tenths = new Array<number>(10).fill(0);
    for (const draw of draws) {
      const tenth = Math.floor(draw * 10);
      tenths[tenth] = (tenths[tenth] ?? 0) + 1;
    }
    expect(tenths).toHaveLength(10);
    for (const count of tenths) expect(Math.abs(count - 10_000)).toBeLessThan(500);
  });
});
