import { describe, expect, it } from 'vitest';
import { checkFilter, filterCovers, filtersOverlap, matchesFilter } from './filter.ts';
import { filterIndex } from './filter-index.ts';

describe('topic filters (MQTT 3.1.1 §4.7)', () => {
  it.each(['#', '+', 'a', '/', '/+', '+/+', 'a/+/b', 'a/#', 'a//#', '$SYS/#', '+/a/#', 'a b', '🦊/+'])(
    '%s is legal',
    (filter) => {
      expect(checkFilter(filter)).toBe(filter);
    },
  );

  it.each([
    ['', '[MQTT-4.7.3-1]'],
    ['a\0', '[MQTT-4.7.3-2]'],
    [`${'a'.repeat(65_535)}/`, '[MQTT-4.7.3-3]'],
    ['a/#/b', '[MQTT-4.7.1-2]'],
    ['a#', '[MQTT-4.7.1-2]'],
    ['#/', '[MQTT-4.7.1-2]'],
    ['##', '[MQTT-4.7.1-2]'],
    ['+#', '[MQTT-4.7.1-2]'],
    ['a+', '[MQTT-4.7.1-3]'],
    ['+a/b', '[MQTT-4.7.1-3]'],
    ['a/++', '[MQTT-4.7.1-3]'],
  ])('%.20j is refused by %s', (filter) => {
    expect(() => checkFilter(filter)).toThrow(expect.objectContaining({ code: 'FILTER_INVALID' }));
  });

  it.each([
    ['sport/tennis/player1/#', 'sport/tennis/player1', true, '[MQTT-4.7.1-2] # includes the parent'],
    ['sport/tennis/player1/#', 'sport/tennis/player1/ranking', true, '[MQTT-4.7.1-2]'],
    ['sport/tennis/player1/#', 'sport/tennis/player1/score/wimbledon', true, '[MQTT-4.7.1-2]'],
    ['sport/#', 'sport', true, '[MQTT-4.7.1-2]'],
    ['sport/#', 'sports', false, '[MQTT-4.7.3-4]'],
    ['#', 'a', true, '[MQTT-4.7.1-2]'],
    ['#', '/', true, '[MQTT-4.7.1-2]'],
    ['sport/tennis/+', 'sport/tennis/player1', true, '[MQTT-4.7.1-3]'],
    ['sport/tennis/+', 'sport/tennis/player1/ranking', false, '[MQTT-4.7.1-3]'],
    ['sport/+', 'sport', false, '[MQTT-4.7.1-3]'],
    ['sport/+', 'sport/', true, '[MQTT-4.7.1-3] + matches an empty level'],
    ['+/+', '/finance', true, '[MQTT-4.7.1-3]'],
    ['/+', '/finance', true, '[MQTT-4.7.1-3]'],
    ['+', '/finance', false, '[MQTT-4.7.1-3]'],
    ['a/+/#', 'a', false, '[MQTT-4.7.1-3]'],
    ['a/+/#', 'a/b', true, '[MQTT-4.7.1-2]'],
    ['#', '$SYS/x', false, '[MQTT-4.7.2-1]'],
    ['+/monitor/Clients', '$SYS/monitor/Clients', false, '[MQTT-4.7.2-1]'],
    ['+', '$SYS', false, '[MQTT-4.7.2-1]'],
    ['$SYS/#', '$SYS/x', true, '[MQTT-4.7.2-1]'],
    ['$SYS/#', '$SYS', true, '[MQTT-4.7.2-1]'],
    ['$SYS/monitor/+', '$SYS/monitor/Clients', true, '[MQTT-4.7.2-1]'],
    ['a/+', 'a/$b', true, '[MQTT-4.7.2-1] only the first level'],
    ['ACCOUNTS', 'Accounts', false, '[MQTT-4.7.3-4]'],
    ['a', 'a', true, '[MQTT-4.7.3-4]'],
    ['a', '/a', false, '[MQTT-4.7.3-4]'],
    ['a/', 'a', false, '[MQTT-4.7.3-4]'],
  ])('%s, topic %s: %s (%s)', (filter, topic, isMatch) => {
    expect(matchesFilter(filter, topic)).toBe(isMatch);
    const index = filterIndex<string>();
    index.add(filter, filter);
    expect(index.match(topic)).toEqual(isMatch ? [filter] : []);
  });

  it.each([
    ['a/+', '+/b', true],
    ['a/#', 'a', true],
    ['a/#', '+', true],
    ['a/+', 'a', false],
    ['/#', '+', false],
    ['/#', '+/+', true],
    ['a/b', 'a/c', false],
    ['a/#', 'b/#', false],
    ['#', '$SYS/#', false],
    ['+/x', '$SYS/x', false],
    ['$SYS/+', '$SYS/x', true],
    ['+/+', '#', true],
  ])('%s and %s have topics in common: %s', (left, right, isOverlap) => {
    expect(filtersOverlap(left, right)).toBe(isOverlap);
    expect(filtersOverlap(right, left)).toBe(isOverlap);
  });

  it.each([
    ['#', 'a/b', true],
    ['#', '#', true],
    ['+/#', '#', true],
    ['#', '+/+/#', true],
    ['/+/#', '/#', true],
    ['a/#', 'a', true],
    ['a/#', 'a/+', true],
    ['a/+', 'a/#', false],
    ['a/+/#', 'a/#', false],
    ['+/+', '+', false],
    ['a/+', 'a/b', true],
    ['a/b', 'a/+', false],
    ['#', '$SYS/x', false],
    ['+', '#', false],
    ['a', 'a', true],
  ])('%s covers %s: %s', (wide, narrow, isCovered) => {
    expect(filterCovers(wide, narrow)).toBe(isCovered);
  });
});

describe('filterIndex', () => {
  it('gives one value per registration; removing one leaves the equal other', () => {
    const index = filterIndex<string>();
    const removeFirst = index.add('a/#', 'same');
    index.add('a/#', 'same');
    index.add('+/b', 'other');
    expect(index.match('a/b').sort()).toEqual(['other', 'same', 'same']);
    removeFirst();
    removeFirst();
    expect(index.match('a/b').sort()).toEqual(['other', 'same']);
    expect(index.match('a')).toEqual(['same']);
  });

  it('removing a filter keeps those above, beside and below it', () => {
    const index = filterIndex<string>();
    index.add('a', 'above');
    const remove = index.add('a/b', 'gone');
    index.add('a/c', 'beside');
    index.add('a/b/c', 'below');
    remove();
    expect(['a', 'a/b', 'a/c', 'a/b/c'].map(index.match)).toEqual([['above'], [], ['beside'], ['below']]);
  });

  it('refuses what is no filter', () => {
    expect(() => filterIndex().add('a+', 0)).toThrow(expect.objectContaining({ code: 'FILTER_INVALID' }));
  });
});
