import { describe, expect, it } from 'vitest';
import { parsePath } from './path.ts';
import { escapePointer, formatPointer, getByPath, getByPointer, listChildren, parsePointer } from './path-value.ts';

const tree = {
  groups: {
    cattle: {
      Size: 3,
      Members: [
        { ID: 'a', n: 1 },
        { ID: 'b', n: 2 },
      ],
    },
  },
  list: [10, 20, 30],
  matrix: [
    [1, 2],
    [3, 4],
  ],
  'odd[0]': 'exact',
  empty: {},
  none: [],
  nothing: null,
  'a/b': { '~': 1 },
};

describe('reading by path (GP §0.4, EI §2.9)', () => {
  it.each([
    ['.', tree],
    ['groups/cattle/Size', 3],
    ['groups/cattle/', tree.groups.cattle],
    ['/groups/cattle/Size', 3],
    ['list/[0]', 10],
    ['list[2]', 30],
    ['list[-1]', 30],
    ['list[-3]', 10],
    ['matrix[1][0]', 3],
    ['matrix/[1]/[0]', 3],
    ['groups/cattle/Members[ID=b]/n', 2],
    ['groups/cattle/Members/[n=1]/ID', 'a'],
    ['odd[0]', 'exact'],
    ['nothing', null],
  ])('%s', (path, value) => {
    expect(getByPath(tree, parsePath(path))).toEqual(value);
  });

  it.each([
    'list[3]',
    'list[-4]',
    'none[0]',
    'none[-1]',
    'groups[0]',
    'list/x',
    'missing/deeper',
    'groups/cattle/Members[ID=z]',
    'groups/cattle/Members[x]',
    'list[1',
    'nothing/x',
    'constructor',
    'groups/toString',
    'list/length',
  ])('%s is missing, never the first item and never a crash (EI-T6)', (path) => {
    expect(getByPath(tree, parsePath(path))).toBeUndefined();
  });

  it.each([
    ['groups', ['cattle']],
    ['groups/cattle', ['Members', 'Size']],
    ['groups/cattle/Members', ['[0]', '[1]']],
    ['groups/cattle/Size', []],
    ['nothing', []],
    ['none', []],
    ['missing', undefined],
  ])('children of %s', (path, children) => {
    expect(listChildren(tree, parsePath(path))).toEqual(children);
  });

  it('sorts children as strings', () => {
    expect(listChildren(Array.from({ length: 11 }), ['.'])).toEqual(
      ['[0]', '[10]', '[1]', '[2]', '[3]', '[4]', '[5]', '[6]', '[7]', '[8]', '[9]'].sort(),
    );
  });
});

describe('JSON pointers (RFC 6901, EI §2.9)', () => {
  it.each([
    ['', []],
    ['/', ['']],
    ['/a~1b/~0', ['a/b', '~']],
    ['/~01', ['~1']],
    ['/list/0', ['list', '0']],
  ])('%j', (text, components) => {
    expect(parsePointer(text)).toEqual(components);
    expect(formatPointer(components)).toBe(text);
  });

  it('a leading slash may be left out, as in old bind pointers (GP §0.3)', () => {
    expect(parsePointer('properties/cidr')).toEqual(['properties', 'cidr']);
  });

  it('addresses members and list items; what is missing is undefined', () => {
    expect(getByPointer(tree, parsePointer('/a~1b/~0'))).toBe(1);
    expect(getByPointer(tree, parsePointer('/list/1'))).toBe(20);
    for (const missing of ['/list/3', '/list/01', '/list/-1', '/list/length', '/nothing/x']) {
      expect(getByPointer(tree, parsePointer(missing))).toBeUndefined();
    }
  });

  it('escapes the tilde first', () => {
    expect(escapePointer('~1/')).toBe('~01~1');
  });

  it.each(['/a~', '/a~2b', '~x'])('refuses the escape in %s', (text) => {
    expect(() => parsePointer(text)).toThrow(expect.objectContaining({ code: 'PATH_INVALID' }));
  });
});
