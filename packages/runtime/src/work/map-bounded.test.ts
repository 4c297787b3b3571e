import { describe, expect, it } from 'vitest';
import { virtualClock } from './clock.ts';
import { mapBounded } from './map-bounded.ts';

describe('mapBounded (Law 9: bounded concurrency)', () => {
  it('answers how each ended, in the order of the items, with at most `limit` at once', async () => {
    const clock = virtualClock();
    let running = 0;
    let most = 0;
    const results = mapBounded([50, 10, 30, 20, 40], 2, async (ms, index) => {
      most = Math.max(most, ++running);
      await new Promise<void>((resolve) => void clock.after(ms, resolve));
      running--;
      if (ms === 30) throw 'bad';
      return `${index}:${ms}`;
    });
    await clock.advance(200);
    expect(await results).toEqual([
      { status: 'fulfilled', value: '0:50' },
      { status: 'fulfilled', value: '1:10' },
      { status: 'rejected', reason: 'bad' },
      { status: 'fulfilled', value: '3:20' },
      { status: 'fulfilled', value: '4:40' },
    ]);
    expect(most).toBe(2);
  });

  it('a call that throws at once is one bad item (Law 5: it does not stop 999 others)', async () => {
    const items = Array.from({ length: 1_000 }, (_, n) => n);
    const results = await mapBounded(items, 8, (n) => {
      if (n === 0) throw new Error('bad');
      return Promise.resolve(n);
    });
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(999);
  });

  it('no items are no results, a limit above their number is no matter', async () => {
    expect(await mapBounded([], 4, async () => 1)).toEqual([]);
    expect(await mapBounded(['a'], 400, async (item) => item)).toEqual([{ status: 'fulfilled', value: 'a' }]);
  });
});
