import { describe, expect, test } from 'vitest';
import { defaultLimits } from './limits.ts';
import { follow, plain } from './located.ts';
import { parseYaml } from './yaml.ts';

const parse = (text: string, limits = {}) => parseYaml(text, { ...defaultLimits, ...limits });
const valuesOf = (text: string) => {
  const { roots, flaws } = parse(text);
  expect(flaws).toEqual([]);
  return roots.map(plain);
};
const offsetsOf = (text: string, paths: (string | number)[][]) => {
  const [root] = parse(text).roots;
  if (root === undefined) throw new Error('nothing was read');
  return paths.map((path) => follow(root, path).offset);
};

describe('YAML 1.1 to JSON values (EI §0.1)', () => {
  test('keys that are no strings become strings', () => {
    expect(valuesOf('{1: a, 1.5: b, yes: c, 0x10: d, 2001-12-14: e}')).toEqual([
      { 1: 'a', 1.5: 'b', true: 'c', 16: 'd', '2001-12-14': 'e' },
    ]);
  });

  test('own keys win over merged ones wherever `<<` stands, and the first merged map over the next', () => {
    const text = 'x: &x {a: 1, b: 1, c: 1}\nw: &w {b: 2, d: 2}\nz:\n  <<: [*w, *x]\n  a: 3\n';
    expect(valuesOf(text)).toEqual([{ x: { a: 1, b: 1, c: 1 }, w: { b: 2, d: 2 }, z: { a: 3, b: 2, d: 2, c: 1 } }]);
    expect(valuesOf('{"<<": 1}')).toEqual([{ '<<': 1 }]);
  });

  test('two uses of an alias share no object', () => {
    const [value] = valuesOf('[&a {b: 1}, *a]') as [{ b: number }[]];
    expect(value[0]).toEqual(value[1]);
    expect(value[0]).not.toBe(value[1]);
  });

  test('an anchor ends with its document', () => {
    expect(parse('a: &x 1\n---\nb: *x\n').flaws).toMatchObject([{ offset: 15 }]);
  });

  test('documents, block scalars, CRLF and a byte order mark inside', () => {
    expect(
      valuesOf('a: |\r\n  x\r\n  y\r\nb: >-\r\n  p\r\n  q\r\n---\r\n- 1\r\n...\r\n\uFEFF--- \r\nlast\r\n'),
    ).toEqual([{ a: 'x\ny\n', b: 'p q' }, [1], 'last']);
  });

  test('backslash braces of an unquoted or single-quoted value stay as they are (GP §5.2)', () => {
    expect(valuesOf("host: \\{\\{.ID\\}\\}\nkey: '\\{\\{ .ID \\}\\}'")).toEqual([
      { host: '\\{\\{.ID\\}\\}', key: '\\{\\{ .ID \\}\\}' },
    ]);
  });
});

describe('offsets', () => {
  test('quotes, block headers, tags and anchors: a value starts where its text or sign starts', () => {
    const text = 'a: \'x\'\nb: "y"\nc: |2-\n   z\nd: !!str 5\ne: &n {f: 1}\ng: *n\n';
    const starts = ["'x'", '"y"', '|2-', '5\n', '{f', '*n'].map((part) => text.indexOf(part));
    expect(offsetsOf(text, [['a'], ['b'], ['c'], ['d'], ['e'], ['g', 'f']])).toEqual([
      ...starts.slice(0, 5),
      text.indexOf('1}'),
    ]);
  });

  test('a value left empty is at its key, an empty item at its dash', () => {
    const text = 'a:\nb:\n-   # no - value\n- "x"\n-\n- - [1]\n  -\n- - \nc: !!str\n';
    const dashes = [...text.matchAll(/-/g)].map((match) => match.index).filter((at) => at !== text.indexOf('- value'));
    expect(offsetsOf(text, [['a'], ['b', 0], ['b', 2], ['b', 3, 1], ['b', 4, 0], ['c']])).toEqual([
      0,
      dashes[0],
      dashes[2],
      dashes[5],
      dashes[7],
      text.indexOf('!!str'),
    ]);
  });

  test('signs of other values are not taken for those of this one', () => {
    expect(offsetsOf('- []\n-\n- {}\n-\n', [[1], [3]])).toEqual([5, 12]);
    expect(offsetsOf('x: "|"\na: |\n  t\n', [['a']])).toEqual([10]);
  });

  test('an empty document is at its `---`', () => {
    const { roots } = parse('---\n# one\n--- # two\n--- x\n...\n%YAML 1.1\n---\n');
    expect(roots.map((root) => root.offset)).toEqual([0, 10, 24, 40]);
  });
});

describe('limits', () => {
  test('a billion laughs stop after the allowed values, quickly', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
    for (let level = 1; level < 30; level += 1) {
      lines.push(
        `a${level}: &a${level} [${Array(10)
          .fill(`*a${level - 1}`)
          .join(', ')}]`,
      );
    }
    expect(parse(lines.join('\n')).flaws).toMatchObject([{ isLimit: true }]);
  });

  test('a bomb of merge keys stops as well', () => {
    const lines = ['m0: &m0 {a: {k: v}, b: {k: v}, c: {k: v}}'];
    for (let level = 1; level < 60; level += 1) {
      lines.push(`m${level}: &m${level} {x${level}: *m${level - 1}, <<: *m${level - 1}}`);
    }
    expect(parse(lines.join('\n')).flaws).toMatchObject([{ isLimit: true }]);
  });

  test('aliases count for the depth of where they are used', () => {
    expect(parse('a: &a [[x]]\nb: [[*a]]', { depth: 5 }).flaws).toEqual([]);
    expect(parse('a: &a [[x]]\nb: [[*a]]', { depth: 4 }).flaws).toMatchObject([{ offset: 17, isLimit: true }]);
  });

  test('nesting stops at the limit, however deep the text is', () => {
    expect(parse('['.repeat(100) + ']'.repeat(100)).flaws).toEqual([]);
    for (const depth of [101, 2_000, 1_000_000]) {
      expect(parse('['.repeat(depth) + ']'.repeat(depth)).flaws).toMatchObject([{ isLimit: true }]);
    }
  });
});

test('all flaws that are not of the syntax are told at once', () => {
  const { flaws } = parse('a: 1\na: 2\nb: *none\nc: .inf\nd: !!binary x\n__proto__: 1\n[x]: 1\n');
  expect(flaws.map((flaw) => flaw.offset)).toEqual([5, 13, 22, 39, 41, 54]);
});
