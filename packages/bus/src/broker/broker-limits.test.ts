import { describe, expect, it } from 'vitest';
import { rateLimit, refusals } from './broker-limits.ts';

const clock = () => {
  let ms = 0;
  const pass = (by: number): void => {
    ms += by;
  };
  return { now: () => ms, pass };
};

describe('refusals', () => {
  it('are all counted, and logged at most once a minute for each reason, with how many there were', () => {
    const { now, pass } = clock();
    const lines: Readonly<Record<string, unknown>>[] = [];
    const ignore = (): void => undefined;
    const log = {
      debug: ignore,
      info: ignore,
      error: ignore,
      warn: (facts: Readonly<Record<string, unknown>>) => void lines.push(facts),
    };
    const { count, counts } = refusals({ log, now });
    for (let n = 0; n < 1_000; n += 1) count('malformed', { n });
    count('rate');
    pass(59_999);
    count('malformed');
    expect(lines).toMatchObject([
      { reason: 'malformed', refused: 1, total: 1, n: 0 },
      { reason: 'rate', refused: 1 },
    ]);
    pass(1);
    count('malformed', { n: 'last' });
    expect(lines.slice(2)).toEqual([{ reason: 'malformed', refused: 1_001, total: 1_002, n: 'last' }]);
    expect(counts()).toEqual({ malformed: 1_002, rate: 1 });
  });
});

describe('a rate', () => {
  it('allows a second’s worth at once and then so many a second, whatever was not used before', () => {
    const { now, pass } = clock();
    const isAllowed = rateLimit(10, now);
    const allowed = (tries: number) => Array.from({ length: tries }, isAllowed).filter(Boolean).length;
    expect(allowed(50)).toBe(10);
    pass(500);
    expect(allowed(50)).toBe(5);
    pass(60_000);
    expect(allowed(50)).toBe(10);
  });
});
