import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeLevel, encodeLevel } from './topic-level.ts';

const name = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('', '.', '..', '-', '--', '%', '%2F', 'a/b', '+', '#', '$SYS', 'a b', '🦊', '\0', '%2D', '%2e'),
);

it('every name is one legal, non-empty level and comes back (DESIGN §3)', () => {
  fc.assert(
    fc.property(name, (text) => {
      const level = encodeLevel(text);
      expect(level).toMatch(/^[A-Za-z0-9\-_.!~*'()%]+$/);
      expect(['.', '..']).not.toContain(level);
      expect(decodeLevel(level)).toBe(text);
    }),
  );
});

it('two names never share a level (DESIGN §3)', () => {
  fc.assert(
    fc.property(name, name, (left, right) => {
      expect(encodeLevel(left) === encodeLevel(right)).toBe(left === right);
    }),
  );
});

it('a level that decodes is the level of what it decodes to (DESIGN §3)', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('%', '2', 'F', 'f', 'D', '-', '.', 'a', '/') }), (level) => {
      let decoded: string;
      try {
        decoded = decodeLevel(level);
      } catch (error) {
        expect(error).toMatchObject({ code: 'NAME_INVALID' });
        return;
      }
      expect(encodeLevel(decoded)).toBe(level);
    }),
  );
});
