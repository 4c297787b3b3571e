import { describe, expect, it } from 'vitest';
import { formatPluginName, PluginName, parsePluginName, withType } from './plugin-name.ts';

describe('plugin names (GP §0.1, EI §0.2)', () => {
  it.each([
    ['group', { lookup: 'group' }],
    ['simulator/compute', { lookup: 'simulator', type: 'compute' }],
    ['instance-file/text/html', { lookup: 'instance-file', type: 'text/html' }],
    ['a/b/c', { lookup: 'a', type: 'b/c' }],
    ['x/', { lookup: 'x', type: '' }],
    ['a//b', { lookup: 'a', type: '/b' }],
  ])('splits %s at the first slash and prints it again', (text, parts) => {
    expect(parsePluginName(text)).toEqual(parts);
    expect(formatPluginName(parts)).toBe(text);
    expect(PluginName.parse(text)).toBe(text);
  });

  it.each([
    [5, 'bad-format-for-name:5'],
    [null, 'bad-format-for-name:null'],
    [{ a: 1 }, 'bad-format-for-name:{"a":1}'],
    ['', 'bad-format-for-name:'],
    ['/x', 'bad-format-for-name:/x'],
  ])('refuses %j', (raw, message) => {
    expect(() => parsePluginName(raw)).toThrow(expect.objectContaining({ code: 'NAME_INVALID', message }));
    expect(PluginName.safeParse(raw).error?.issues.map((issue) => issue.message)).toEqual([message]);
  });

  it('withType replaces the type and keeps the lookup', () => {
    expect(withType('a/b/c', 'd')).toBe('a/d');
    expect(withType('a', 'd')).toBe('a/d');
    expect(withType('a/b', '')).toBe('a/');
  });
});
