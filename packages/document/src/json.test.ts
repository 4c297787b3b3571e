import { describe, expect, test } from 'vitest';
import { parseJson } from './json.ts';
import { defaultLimits } from './limits.ts';
import { follow, plain } from './located.ts';

const parse = (text: string) => parseJson(text, defaultLimits);
const valuesOf = (text: string) => parse(text).roots.map(plain);

describe('JSON by RFC 8259', () => {
  test.each([
    'null',
    'true',
    '-0.5e+3',
    '"\\u00e9\\n\\"\\\\\\/"',
    '[]',
    ' [ 1 , [ ] , { } ] ',
    '{"a":{"b":[null,false]},"":1}',
    '\t{\r\n"constructor":{"prototype":1}}',
  ])('%s is what JSON.parse makes of it', (text) => {
    expect(parse(text).flaws).toEqual([]);
    expect(valuesOf(text)).toEqual([JSON.parse(text)]);
  });

  test.each([
    '',
    '01',
    '+1',
    '.5',
    '1.',
    '1e',
    'tru',
    'NaN',
    "'a'",
    '"a',
    '"\\x"',
    '"\\u12"',
    '[1,]',
    '{"a":1,}',
    '{a:1}',
    '[1 2]',
    '1 2',
    '"\t"',
    '-',
    '[',
    '{"a"',
    '\uFEFF1',
  ])('%j is refused, as JSON.parse does', (text) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(parse(text).roots).toEqual([]);
    expect(parse(text).flaws).toHaveLength(1);
  });

  test('every key and value knows its offset', () => {
    const [root] = parse('{ "a": [1, {"b": "x"}] }').roots;
    if (root === undefined) throw new Error('nothing was read');
    expect(follow(root, []).offset).toBe(0);
    expect(follow(root, ['a']).offset).toBe(7);
    expect(follow(root, ['a', 0]).offset).toBe(8);
    expect(follow(root, ['a', 1]).offset).toBe(11);
    expect(follow(root, ['a', 1, 'b']).offset).toBe(17);
    expect(follow(root, ['a', 1, 'none']).offset).toBe(11);
    expect(root.kind === 'map' && root.entries[0]?.keyOffset).toBe(2);
  });

  test('a duplicate key and a prototype key are flaws, and no prototype changes', () => {
    const parsed = parse('{"a": 1, "a": 2, "__proto__": {"polluted": true}}');
    expect(parsed.flaws.map((flaw) => flaw.offset)).toEqual([9, 17]);
    expect(parsed.flaws[0]?.first).toBe(1);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  test('nesting stops at the limit, however deep the text is', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    expect(parse(nested(100)).flaws).toEqual([]);
    for (const depth of [101, 1_000_000]) {
      expect(parse(nested(depth)).flaws).toMatchObject([{ offset: 100, isLimit: true }]);
    }
  });
});
