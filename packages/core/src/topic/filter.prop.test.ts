import fc from 'fast-check';
import { expect, it } from 'vitest';
import { filterCovers, filtersOverlap, matchesFilter } from './filter.ts';
import { filterIndex } from './filter-index.ts';

const topic = fc
  .array(fc.constantFrom('a', 'b', '', '$s'), { minLength: 1, maxLength: 4 })
  .map((levels) => levels.join('/'))
  .filter((text) => text !== '');
const filter = fc
  .tuple(fc.array(fc.constantFrom('a', 'b', '', '$s', '+'), { maxLength: 3 }), fc.constantFrom('#', '+', 'a', 'b'))
  .map(([levels, last]) => [...levels, last].join('/'));

/** The standard's rules as a regular expression: the slow and obvious matcher. */
const naive = (pattern: string, text: string): boolean => {
  if (/^[+#]/.test(pattern) && text.startsWith('$')) return false;
  const source = pattern
    .split('/')
    .map((level, index) => {
      const slash = index === 0 ? '' : '/';
      if (level === '#') return index === 0 ? '.*' : '(/.*)?';
      return slash + (level === '+' ? '[^/]*' : level.replace('$', '\\$'));
    })
    .join('');
  return new RegExp(`^${source}$`).test(text);
};

/** Every topic of up to four levels over the alphabet of the filters, and one letter that no filter names. */
const universe = ((): string[] => {
  const letters = ['a', 'b', '', '$s', 'z'];
  let layer: string[] = letters;
  const all = [...layer];
  for (let depth = 2; depth <= 5; depth += 1) {
    layer = layer.flatMap((text) => letters.map((letter) => `${text}/${letter}`));
    all.push(...layer);
  }
  return all.filter((text) => text !== '');
})();

it('a filter matches what the naive matcher says (MQTT 3.1.1 §4.7)', () => {
  fc.assert(
    fc.property(filter, topic, (pattern, text) => {
      expect(matchesFilter(pattern, text)).toBe(naive(pattern, text));
    }),
    { numRuns: 2_000 },
  );
});

it('an index of many filters matches as each of them alone, after removals too', () => {
  const entry = fc.record({ pattern: filter, isRemoved: fc.boolean() });
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 20 }), fc.array(topic, { maxLength: 10 }), (entries, texts) => {
      const index = filterIndex<number>();
      const removers = entries.map(({ pattern }, at) => index.add(pattern, at));
      for (const [at, { isRemoved }] of entries.entries()) if (isRemoved) removers[at]?.();
      for (const text of texts) {
        const wanted = [...entries.keys()].filter(
          (at) => entries[at]?.isRemoved === false && naive(entries[at]?.pattern ?? '', text),
        );
        expect(index.match(text).sort((left, right) => left - right)).toEqual(wanted);
      }
    }),
  );
});

it('overlap and cover agree with every topic there is', () => {
  fc.assert(
    fc.property(filter, filter, (left, right) => {
      const inRight = universe.filter((text) => naive(right, text));
      expect(filtersOverlap(left, right)).toBe(inRight.some((text) => naive(left, text)));
      expect(filterCovers(left, right)).toBe(inRight.every((text) => naive(left, text)));
    }),
    { numRuns: 200 },
  );
});
