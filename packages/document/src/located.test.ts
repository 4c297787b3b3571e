import { describe, expect, test } from 'vitest';
import { findEntry, follow, formatValuePath, type Located, type LocatedMap, plain } from './located.ts';

const scalar = (value: string | number | null, offset: number): Located => ({ kind: 'scalar', offset, value });
const map = (offset: number, entries: [string, Located][]): LocatedMap => ({
  kind: 'map',
  offset,
  entries: entries.map(([key, value]) => ({ key, keyOffset: value.offset - 3, value })),
});
const root = map(0, [
  ['size', scalar(1, 10)],
  ['Size', scalar(2, 20)],
  ['List', { kind: 'list', offset: 30, items: [map(31, [['ID', scalar('a', 40)]])] }],
]);

test.each([
  [[], ''],
  [['properties', 'Allocation', 'Size'], 'properties.Allocation.Size'],
  [['properties', 'List', 0, 'ID'], 'properties.List[0].ID'],
  [[2, 'Routes'], '[2].Routes'],
  [['Labels', 'example.com/x'], 'Labels["example.com/x"]'],
  [['', 'a"b'], '[""]["a\\"b"]'],
])('the path %j prints as %s', (path, text) => expect(formatValuePath(path)).toBe(text));

describe('following a path', () => {
  test('the exact spelling of a key comes before any other (EI §0.1)', () => {
    expect(findEntry(root, 'Size')?.value.offset).toBe(20);
    expect(findEntry(root, 'size')?.value.offset).toBe(10);
    expect(findEntry(root, 'SIZE')?.value.offset).toBe(10);
    expect(findEntry(root, 'none')).toBeUndefined();
  });

  test('a value is found with its offset', () => {
    expect(follow(root, ['list', 0, 'id'])).toEqual({ node: scalar('a', 40), offset: 40 });
    expect(follow(root, [])).toEqual({ node: root, offset: 0 });
  });

  test('what is missing points at the key of its nearest parent', () => {
    expect(follow(root, ['List', 0, 'Tags'])).toEqual({ node: undefined, offset: 31 });
    expect(follow(root, ['List', 7])).toEqual({ node: undefined, offset: 27 });
    expect(follow(root, ['Size', 'deeper'])).toEqual({ node: undefined, offset: 17 });
    expect(follow(root, ['none'])).toEqual({ node: undefined, offset: 0 });
  });
});

test('a plain value is a fresh JSON value', () => {
  expect(plain(root)).toEqual({ size: 1, Size: 2, List: [{ ID: 'a' }] });
  expect(plain(root)).not.toBe(plain(root));
});
