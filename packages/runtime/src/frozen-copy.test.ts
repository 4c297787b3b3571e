import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { frozenCopy } from './frozen-copy.ts';

const isFrozenThrough = (value: unknown): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (Object.isFrozen(value) && Object.values(value).every(isFrozenThrough));

describe('frozenCopy (EI-P5)', () => {
  it('is equal to any JSON value, frozen all through, and leaves the value as it was', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const before = JSON.stringify(value);
        const copy = frozenCopy(value);
        expect(JSON.stringify(copy)).toBe(before);
        expect(isFrozenThrough(copy)).toBe(true);
        if (typeof value === 'object' && value !== null) expect(Object.isFrozen(value)).toBe(false);
      }),
    );
  });

  it('keeps what is not plain data as it is', () => {
    const when = new Date(0);
    expect(frozenCopy({ when }).when).toBe(when);
  });
});
