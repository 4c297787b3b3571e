import { describe, expect, it } from 'vitest';
import { basePath, comparePaths, dirPath, formatPath, joinPath, parsePath, relativePath, shiftPath } from './path.ts';
import { Path } from './path-schema.ts';

const of = parsePath;

describe('paths (GP §0.4, EI §2.9)', () => {
  it.each([
    ['', '.'],
    ['.', '.'],
    ['a/..', '.'],
    ['./', '.'],
    ['/', '/'],
    ['/.', '/'],
    ['//', '/'],
    ['/..', '/'],
    ['./a/b//c//', 'a/b/c/'],
    ['/a/b/../x', '/a/x'],
    ['a/b/c/d/..', 'a/b/c'],
    ['a/b/c/d/../', 'a/b/c/'],
    ['sec/', 'sec/'],
    ['sec/.', 'sec/'],
    ['sec', 'sec'],
    ['..', '..'],
    ['../a', '../a'],
    ['../../a', '../../a'],
    ['a/../../b', '../b'],
  ])('%j is clean as %s', (text, cleaned) => {
    expect(formatPath(of(text))).toBe(cleaned);
    expect(Path.parse(text)).toBe(cleaned);
  });

  it.each([
    ['a/', 'b/c/', 'a/b/c/'],
    ['a', 'b', 'a/b'],
    ['.', 'b', 'b'],
    ['/', 'b', '/b'],
    ['a/b', '../c', 'a/c'],
  ])('join %s + %s', (parent, child, joined) => {
    expect(formatPath(joinPath(of(parent), of(child)))).toBe(joined);
  });

  it.each([
    ['a/b/c/d', 'a/b/', 'c/d'],
    ['a/b/c/d', 'a/b', 'c/d'],
    ['a/b', '.', 'a/b'],
    ['/a/b', '/', 'a/b'],
    ['a/b', 'a/x', '.'],
    ['ab/c', 'a', '.'],
    ['a', 'a/b', '.'],
  ])('%s relative to %s', (path, parent, rest) => {
    expect(formatPath(relativePath(of(path), of(parent)))).toBe(rest);
  });

  it.each([
    ['a', '.', 'a'],
    ['a/b/c', 'a/b', 'c'],
    ['/a', '/', 'a'],
    ['a/b/', 'a/b', ''],
  ])('dir and base of %s', (path, dir, base) => {
    expect(formatPath(dirPath(of(path)))).toBe(dir);
    expect(basePath(of(path))).toBe(base);
  });

  it('shift drops leading components', () => {
    expect(formatPath(shiftPath(of('a/b/c'), 1))).toBe('b/c');
    expect(formatPath(shiftPath(of('a/b/c'), 5))).toBe('.');
  });

  it('orders component-wise, a prefix first', () => {
    const sorted = ['a', 'a/b', 'a/b/c', 'a/c', 'a-b', 'b'].map(of);
    expect([...sorted].reverse().sort(comparePaths)).toEqual(sorted);
  });

  it('a trailing slash matters', () => {
    expect(of('a/')).not.toEqual(of('a'));
  });
});
