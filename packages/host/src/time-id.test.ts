import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { timeIds } from './time-id.ts';

describe('ids that sort by time', () => {
  it('rise whatever the clock does, and hold nothing that a topic or file name minds', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -5, max: 5 }), { minLength: 1, maxLength: 200 }), (steps) => {
        let nowMs = 1_800_000_000_000;
        const next = timeIds(() => nowMs, randomBytes);
        const ids = steps.map((step) => {
          nowMs += step;
          return next();
        });
        expect(ids).toEqual([...new Set(ids)].sort());
        for (const id of ids) expect(id).toMatch(/^[0-9a-v]{20}$/);
      }),
    );
  });

  it('rise when more are made in a millisecond than can be counted', () => {
    const next = timeIds(
      () => 1_800_000_000_000,
      () => new Uint8Array(8),
    );
    let last = '';
    for (let n = 0; n < 70_000; n += 1) {
      const id = next();
      if (id <= last) throw new Error(`${id} came after ${last}`);
      last = id;
    }
  });

  it('of a later start sort after those of an earlier one', () => {
    const at = (nowMs: number) => timeIds(() => nowMs, randomBytes)();
    expect(at(1_800_000_000_001.9) < at(1_800_000_000_002)).toBe(true);
    expect(at(999) < at(1_800_000_000_000)).toBe(true);
  });
});
