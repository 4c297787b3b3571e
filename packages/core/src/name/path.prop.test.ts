import fc from 'fast-check';
import { expect, it } from 'vitest';
import { basePath, comparePaths, dirPath, formatPath, joinPath, parsePath, relativePath } from './path.ts';

const text = fc.string({ unit: fc.constantFrom('a', 'b', '.', '/', 'é') });
const plain = fc
  .array(fc.string({ minLength: 1, unit: fc.constantFrom('a', 'b', 'c') }), { minLength: 1 })
  .map((segments) => segments.join('/'));

it('cleaning is idempotent (GP §0.4)', () => {
  fc.assert(
    fc.property(text, (raw) => {
      const once = formatPath(parsePath(raw));
      expect(formatPath(parsePath(once))).toBe(once);
      expect(once).not.toBe('');
    }),
  );
});

it('what is joined below a parent is relative to it again (EI §2.9)', () => {
  fc.assert(
    fc.property(plain, plain, (parent, child) => {
      const joined = joinPath(parsePath(parent), parsePath(child));
      expect(formatPath(relativePath(joined, parsePath(parent)))).toBe(child);
      expect(joinPath(dirPath(joined), [basePath(joined)])).toEqual(joined);
    }),
  );
});

it('the order is total and agrees with itself (EI §2.9)', () => {
  fc.assert(
    fc.property(text, text, text, (...raw) => {
      const [a, b, c] = raw.map(parsePath) as [string[], string[], string[]];
      expect(Math.sign(comparePaths(a, b)) + Math.sign(comparePaths(b, a))).toBe(0);
      expect(comparePaths(a, b) === 0).toBe(formatPath(a) === formatPath(b));
      if (comparePaths(a, b) <= 0 && comparePaths(b, c) <= 0) expect(comparePaths(a, c)).toBeLessThanOrEqual(0);
    }),
  );
});
