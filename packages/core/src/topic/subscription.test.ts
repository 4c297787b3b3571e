import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesFilter } from './filter.ts';
import { eventSubscription } from './subscription.ts';
import { topicsUnder } from './topic.ts';

const topics = topicsUnder();
const subscribe = (text: string) => eventSubscription(topics, 'time', text);

const delivered = (text: string, path: string): boolean => {
  const { filter, matches } = subscribe(text);
  expect(matchesFilter(filter, topics.event('time', path))).toBe(matches(path));
  return matches(path);
};

describe('old subscription texts (GP §3.2, EI §5.3)', () => {
  it.each([
    ['.', true, true],
    ['', true, true],
    ['/', true, true],
    ['local/', true, false],
    ['local/time/', true, false],
    ['local/time', false, false],
    ['local', false, true],
    ['local/time/now', true, false],
    ['/local/time/now', true, false],
  ])('%j: local/time/now %s, local %s', (text, isNow, isLocal) => {
    expect([delivered(text, 'local/time/now'), delivered(text, 'local')]).toEqual([isNow, isLocal]);
  });

  it.each([
    ['local/', 'local/instance1', true],
    ['cluster/time/', 'local/time/now', false],
    ['local/instance', 'local/instance', true],
    ['local/instance', 'local/instancetest', false],
    ['local/instance/', 'local/instancetest', false],
    ['var/log/', '/var/log/x', true],
    ['a b/', 'a b/+', true],
  ])('%j, published %s: %s', (text, path, isDelivered) => {
    expect(delivered(text, path)).toBe(isDelivered);
  });

  it.each([
    ['.', 'infrakit/events/time/#'],
    ['local/', 'infrakit/events/time/local/+/#'],
    ['local/a b', 'infrakit/events/time/local/a%20b'],
    ['streams/+/1', 'infrakit/events/time/streams/+/1'],
    ['a b/#', 'infrakit/events/time/a%20b/#'],
    ['#', 'infrakit/events/time/#'],
  ])('%j is the MQTT filter %s', (text, filter) => {
    expect(subscribe(text).filter).toBe(filter);
  });

  it.each([
    ['streams/+/1', 'streams/sec/1', true],
    ['streams/+/1', 'streams/sec/5', false],
    ['streams/#', 'streams', true],
    ['#', '$odd', true],
    ['+', '$odd', true],
  ])('with wildcards it is an MQTT filter below the plugin: %j, %s: %s', (text, path, isDelivered) => {
    expect(delivered(text, path)).toBe(isDelivered);
  });

  it.each(['a+', '#/a'])('%s is refused', (text) => {
    expect(() => subscribe(text)).toThrow(expect.objectContaining({ code: 'FILTER_INVALID' }));
  });

  it('filter and predicate let the same events through', () => {
    const text = fc.string({ minLength: 1, unit: fc.constantFrom('a', 'b', '/', ' ') });
    fc.assert(
      fc.property(
        text,
        text.map((path) => `${path}x`),
        (wanted, path) => {
          delivered(wanted, path);
        },
      ),
    );
  });
});
