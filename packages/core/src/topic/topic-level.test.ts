import { describe, expect, it } from 'vitest';
import { decodeLevel, encodeLevel } from './topic-level.ts';

describe('names as one topic level (DESIGN §3)', () => {
  it.each([
    ['cattle', 'cattle'],
    ['instance-file', 'instance-file'],
    ['v1.2_x~y', 'v1.2_x~y'],
    ['text/html', 'text%2Fhtml'],
    ['+', '%2B'],
    ['#', '%23'],
    ['$SYS', '%24SYS'],
    ['a b', 'a%20b'],
    ['é', '%C3%A9'],
    ['🦊', '%F0%9F%A6%8A'],
    ['%41', '%2541'],
    ['toString', 'toString'],
    ['', '-'],
    ['-', '%2D'],
    ['.', '%2E'],
    ['..', '%2E%2E'],
  ])('%j is %s', (name, level) => {
    expect(encodeLevel(name)).toBe(level);
    expect(decodeLevel(level)).toBe(name);
  });

  it.each(['', '.', '..', '%', '%2', '%zz', '%FF', '%2f', '%41', 'a/b', 'a b', '+', '#', '🦊'])(
    '%j is no level of ours',
    (level) => {
      expect(() => decodeLevel(level)).toThrow(expect.objectContaining({ code: 'NAME_INVALID' }));
    },
  );

  it('half a surrogate pair is refused as a name', () => {
    expect(() => encodeLevel('a\ud83e')).toThrow(expect.objectContaining({ code: 'NAME_INVALID' }));
  });
});
