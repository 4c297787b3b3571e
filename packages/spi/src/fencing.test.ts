import { describe, expect, it } from 'vitest';
import { fencingTerms } from './fencing.ts';

describe('fencing terms', () => {
  it('Law 12: an older term of the same scope is refused, the same one and a newer one are not', () => {
    const terms = fencingTerms();
    expect(terms.admit({ scope: 'group', term: 3 })).toBe(true);
    expect(terms.admit({ scope: 'group', term: 3 })).toBe(false);
    expect(terms.admit({ scope: 'group', term: 5 })).toBe(true);
    expect(() => terms.admit({ scope: 'group', term: 4 })).toThrow(
      expect.objectContaining({ code: 'TERM_STALE', facts: { scope: 'group', term: 4, highest: 5 } }),
    );
    expect(terms.all()).toEqual([{ scope: 'group', term: 5 }]);
  });

  it('two leaders whose elections count apart work on one sink', () => {
    const terms = fencingTerms([
      { scope: 'group', term: 3 },
      { scope: 'group', term: 2 },
    ]);
    expect(terms.admit({ scope: 'enrollment', term: 1 })).toBe(true);
    expect(terms.admit({ scope: 'group', term: 3 })).toBe(false);
    expect(() => terms.admit({ scope: 'group', term: 2 })).toThrow(expect.objectContaining({ code: 'TERM_STALE' }));
  });

  it('a call without a term is nobody that leads', () => {
    expect(fencingTerms([{ scope: 'group', term: 3 }]).admit(undefined)).toBe(false);
  });
});
