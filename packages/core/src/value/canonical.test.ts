import { describe, expect, it } from 'vitest';
import { canonicalJson, compareUtf8, digest } from './canonical.ts';

describe('canonical JSON', () => {
  it.each([
    [{ b: 1, a: [true, null, 'x'] }, '{"a":[true,null,"x"],"b":1}'],
    [{ a: { d: 1, c: 2 } }, '{"a":{"c":2,"d":1}}'],
    [{ a: undefined, b: 1 }, '{"b":1}'],
    [[1.5, -0, 1e21], '[1.5,0,1e+21]'],
    ['<&>', '"<&>"'],
    [{}, '{}'],
    [[], '[]'],
  ])('%j', (value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  it('sorts names by UTF-8 bytes, not by UTF-16 units', () => {
    const names = ['Z', 'a', 'é', '\u{e000}', '\u{ffff}', '🦊'];
    expect(canonicalJson(Object.fromEntries([...names].reverse().map((name) => [name, 0])))).toBe(
      `{${names.map((name) => `"${name}":0`).join(',')}}`,
    );
  });

  it.each([[Number.NaN], [Number.POSITIVE_INFINITY], [1n], [() => 0], [new Date(0)], [new Map()], [[undefined]]])(
    'refuses %s, which JSON cannot say',
    (value) => {
      expect(() => canonicalJson(value)).toThrow(expect.objectContaining({ code: 'INTERNAL' }));
    },
  );

  it('a digest is 26 characters of base32 of SHA-256', () => {
    // printf '{"a":1}' | sha256sum → 015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862
    expect(digest({ a: 1 })).toBe('afnl2724yv5c3wklowipaswybb');
    expect(digest({ a: 1 })).toMatch(/^[a-z2-7]{26}$/);
  });

  it('compareUtf8 puts a prefix first and equals at zero', () => {
    expect(Math.sign(compareUtf8('a', 'ab'))).toBe(-1);
    expect(compareUtf8('ab', 'ab')).toBe(0);
  });
});
