import { describe, expect, it } from 'vitest';
import { formatTags } from './tag-text.ts';
import { matchesTags, parseTag, parseTags, reservedTags, Tags } from './tags.ts';

describe('tags', () => {
  it.each([
    [{ a: '1', b: '2' }, { a: '1' }, true],
    [{ a: '1', b: '2' }, { a: '1', b: '2' }, true],
    [{ a: '1' }, { a: '2' }, false],
    [{ b: '2' }, { a: '1' }, false],
    [{ simulator: 's' }, { 'infrakit.group': 'cattle' }, false],
    [{}, { a: '1' }, false],
    [null, { a: '1' }, false],
    [{ a: '1' }, {}, true],
    [{ a: '1' }, null, true],
    [null, null, true],
    [{ a: '' }, { a: '' }, true],
    [{}, { a: '' }, false],
    [{}, { toString: 'x' }, false],
  ])('%j matches %j: %s; every key present and equal (GP-S3)', (tags, query, isMatch) => {
    expect(matchesTags(tags, query)).toBe(isMatch);
  });

  it.each([
    ['a=b', ['a', 'b']],
    ['a=b=c', ['a', 'b=c']],
    ['a=', ['a', '']],
    ['infrakit.group=cattle', ['infrakit.group', 'cattle']],
  ])('%s is split at the first = (EI-T2)', (text, tag) => {
    expect(parseTag(text)).toEqual(tag);
  });

  it.each(['foo', '', '=v'])('%j is refused with a sentence (EI-T2)', (text) => {
    expect(() => parseTag(text)).toThrow(
      expect.objectContaining({
        code: 'TAG_INVALID',
        message: `a tag is written key=value, not ${JSON.stringify(text)}`,
      }),
    );
  });

  it('parses a list without touching it; the last of one key counts (EI-T2)', () => {
    const texts = Object.freeze(['a=1', 'b=2', 'a=3', '__proto__=x']);
    const tags = parseTags(texts);
    expect(Object.entries(tags)).toEqual([
      ['a', '3'],
      ['b', '2'],
      ['__proto__', 'x'],
    ]);
    expect(Object.getPrototypeOf(tags)).toBe(Object.prototype);
  });

  it('prints sorted by key', () => {
    expect(formatTags({ b: '2', a: '1', B: '3' })).toBe('B=3,a=1,b=2');
    expect(formatTags(null)).toBe('');
  });

  it('holds strings only', () => {
    expect(Tags.safeParse({ a: 1 }).success).toBe(false);
    expect(Tags.parse({ a: '1' })).toEqual({ a: '1' });
  });

  it('the reserved names are interface, letter for letter (GP §0.5, DESIGN §4)', () => {
    expect(Object.values(reservedTags)).toEqual([
      'infrakit.group',
      'infrakit.config.hash',
      'infrakit.logical_id',
      'infrakit.slot',
      'infrakit.cluster.id',
      'infrakit.enrollment.owner',
      'infrakit.enrollment.name',
      'infrakit.enrollment.sourceID',
      'infrakit_link',
      'infrakit_link_context',
      'infrakit_link_created',
      'simulator',
    ]);
  });
});
