import { expect, it } from 'vitest';
import { badMessages } from './bad-messages.ts';

it('counts every bad message and logs at most once a minute, with what happened in between', () => {
  const clock = { now: 0 };
  const lines: unknown[] = [];
  const quiet = (): void => {};
  const log = { debug: quiet, info: quiet, error: quiet, warn: (facts: object) => void lines.push(facts) };
  const bad = badMessages({ log, nowMs: () => clock.now });
  for (let n = 0; n < 1_000; n += 1) {
    clock.now = n * 100;
    bad.note('t', `reason ${n}`);
  }
  expect(bad.count()).toBe(1_000);
  expect(lines).toEqual([
    { topic: 't', reason: 'reason 0', count: 1, total: 1 },
    { topic: 't', reason: 'reason 600', count: 600, total: 601 },
  ]);
});
