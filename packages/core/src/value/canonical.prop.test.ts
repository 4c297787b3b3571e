import fc from 'fast-check';
import { expect, it } from 'vitest';
import { canonicalJson, compareUtf8, digest } from './canonical.ts';

const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reversed(member)]),
  );
};

it('digests do not depend on the order of keys (EI-T5)', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(digest(reversed(value))).toBe(digest(value));
    }),
  );
});

it('canonical text says the same value and nothing else', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
      const text = canonicalJson(left);
      expect(canonicalJson(JSON.parse(text))).toBe(text);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(left)));
      if (canonicalJson(right) === text) expect(JSON.parse(JSON.stringify(right))).toEqual(JSON.parse(text));
    }),
  );
});

it('compareUtf8 orders as the bytes do', () => {
  const text = fc.string({ unit: 'binary' });
  fc.assert(
    fc.property(text, text, (left, right) => {
      expect(Math.sign(compareUtf8(left, right))).toBe(Buffer.compare(Buffer.from(left), Buffer.from(right)));
    }),
  );
});
