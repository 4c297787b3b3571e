import { describe, expect, test } from 'vitest';
import { progress } from './progress.ts';

describe('how far a sink is behind (issue 6: lag, oldest unacknowledged age)', () => {
  test('nothing that waits has no age; what waits is as old as the look that first saw it', () => {
    const behind = progress();
    behind.sample(0, 10, 10);
    expect(behind.oldestMs(50, 10)).toBe(0);
    behind.sample(100, 15, 10);
    behind.sample(200, 20, 10);
    expect(behind.oldestMs(250, 10)).toBe(150);
    expect(behind.oldestMs(250, 14)).toBe(150);
    expect(behind.oldestMs(250, 15)).toBe(50);
    expect(behind.oldestMs(250, 20)).toBe(0);
  });

  test('it is stalled since the look at which things waited and none was confirmed any more', () => {
    const behind = progress();
    behind.sample(0, 10, 5);
    expect(behind.stalledSinceMs()).toBe(0);
    behind.sample(100, 20, 6);
    expect(behind.stalledSinceMs()).toBe(100);
    behind.sample(200, 30, 6);
    behind.sample(300, 40, 6);
    expect(behind.stalledSinceMs()).toBe(100);
    behind.sample(400, 40, 40);
    expect(behind.stalledSinceMs()).toBeNull();
  });

  test('of a sink that is behind for ever the oldest stays known', () => {
    const behind = progress();
    for (let look = 1; look < 100_000; look += 1) behind.sample(look, look, 0);
    expect(behind.oldestMs(100_000, 0)).toBe(99_999);
  });
});
