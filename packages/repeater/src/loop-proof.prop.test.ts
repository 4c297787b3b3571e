import { filterCovers, matchesFilter } from '@infrakit/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findLoop, type Hop, loopText } from './loop-proof.ts';
import { topicMapping } from './topic-mapping.ts';
import { filterOf, meet, patternOf } from './topic-pattern.ts';

const names = ['a', 'b'];
const brokers = ['one', 'two', 'three'];

const filter = fc
  .tuple(fc.array(fc.constantFrom(...names, '+'), { maxLength: 2 }), fc.boolean())
  .map(([levels, hasTail]) => [...levels, ...(hasTail || levels.length === 0 ? ['#'] : [])].join('/'));

/** Topics of up to `depth` levels. */
const topicsUpTo = (depth: number): string[] =>
  depth === 0 ? [] : [...topicsUpTo(depth - 1), ...combine(depth).map((levels) => levels.join('/'))];
const combine = (depth: number): string[][] =>
  depth === 0 ? [[]] : combine(depth - 1).flatMap((front) => [...names, 'x'].map((name) => [...front, name]));

const topics = topicsUpTo(4);

const words = fc
  .tuple(filter, fc.constantFrom('', 'a', 'b/a', 'x/', 'a/', 'a/+', '+/b', 'b/#', 'x/+/#'), fc.boolean())
  .map(([source, sink, exchanges]) =>
    exchanges
      ? { source, sink: '', localPrefix: 'a/', remotePrefix: 'b/' }
      : { source, sink, localPrefix: '', remotePrefix: '' },
  );

const hop = fc
  .tuple(fc.constantFrom(...brokers), fc.constantFrom(...brokers), words)
  .map(([from, to, given]): Hop | null => {
    try {
      const full = given.localPrefix + given.source;
      return {
        name: JSON.stringify([from, to, given]),
        from,
        to,
        filter: patternOf(full),
        mapping: topicMapping(given),
      };
    } catch {
      return null;
    }
  });

/** Whether a message on some topic passes a rule twice, tried out. */
const triesOut = (hops: readonly Hop[]): boolean => {
  const passes = (broker: string, topic: string, passed: readonly Hop[]): boolean =>
    hops.some((next) => {
      if (next.from !== broker || !matchesFilter(filterOf(next.filter), topic)) return false;
      if (passed.includes(next)) return true;
      const mapped = next.mapping.topic(topic);
      return mapped !== null && passes(next.to, mapped, [...passed, next]);
    });
  return brokers.some((broker) => topics.some((topic) => passes(broker, topic, [])));
};

describe('loops', () => {
  test('every set of rules with a loop is found, and no other', () => {
    fc.assert(
      fc.property(fc.array(hop, { minLength: 1, maxLength: 4 }), (made) => {
        const hops = made.filter((one) => one !== null);
        expect(findLoop(hops) !== null).toBe(triesOut(hops));
      }),
      { numRuns: 1_500 },
    );
  });

  test('the meeting of two filters is exactly what both match', () => {
    fc.assert(
      fc.property(filter, filter, (left, right) => {
        const both = meet(patternOf(left), patternOf(right));
        for (const topic of topics) {
          const isInBoth = matchesFilter(left, topic) && matchesFilter(right, topic);
          expect(both !== null && matchesFilter(filterOf(both), topic)).toBe(isInBoth);
        }
        if (both !== null) expect(filterCovers(left, filterOf(both))).toBe(true);
      }),
    );
  });

  test('the cycle is spelled out', () => {
    const rule = (name: string, from: string, to: string, source: string, sink: string): Hop => ({
      name,
      from,
      to,
      filter: patternOf(source),
      mapping: topicMapping({ source, sink, localPrefix: '', remotePrefix: '' }),
    });
    const loop = findLoop([
      rule('there', 'one', 'two', 's/#', 'mirror/'),
      rule('back', 'two', 'one', 'mirror/#', 's/'),
    ]);
    expect(loopText(loop ?? [])).toBe('there: s/# (one → two), back: mirror/s/# (two → one), then there again');
    expect(findLoop([rule('there', 'one', 'two', 's/#', 'mirror/'), rule('back', 'two', 'one', 'b/#', '')])).toBeNull();
  });

  test('a wildcard in front finds no $ topics, so that a mirror of everything is not a mirror of $SYS', () => {
    expect(meet(patternOf('#'), patternOf('$SYS/#'))).toBeNull();
  });
});
