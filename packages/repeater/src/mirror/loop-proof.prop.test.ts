import { filterCovers, matchesFilter } from '@infrakit/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { flowsOf, hopOf } from '../wire/flow.ts';
import { goesRound, type TriedRule } from './loop-oracle.ts';
import { findLoop, type Hop, loopText, takenBy } from './loop-proof.ts';
import { Mirror } from './mirror.ts';
import { topicMapping } from './topic-mapping.ts';
import { filterOf, isCoveredBy, meet, patternOf } from './topic-pattern.ts';

const quiet = (): void => undefined;
const deps = {
  broker: null,
  variable: () => undefined,
  keepsBuffers: false,
  log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
};

/** Names that rules may have, and one that none has. */
const names = ['a', 'b', '$s'];
const alphabet = [...names, 'x'];

/** All topics of so many levels. */
const topicsOf = (levels: number, from: readonly string[]): string[] =>
  levels === 1 ? [...from] : topicsOf(levels - 1, from).flatMap((front) => from.map((name) => `${front}/${name}`));

const topics = [1, 2, 3, 4, 5].flatMap((levels) => topicsOf(levels, alphabet));

/** Whether messages of up to five levels go round, or, where a loop is claimed, such with more: rules may take levels off. */
const isFoundByTrying = (tried: readonly TriedRule[], isClaimed: boolean): boolean => {
  if (goesRound(tried, topics)) return true;
  const text = JSON.stringify(tried);
  const used = alphabet.filter((name) => name === 'x' || text.includes(name));
  return isClaimed && [6, 7, 8, 9, 10].some((levels) => goesRound(tried, topicsOf(levels, used)));
};

const filter = fc
  .tuple(fc.array(fc.constantFrom('a', 'b', '+', '+', '$s'), { maxLength: 2 }), fc.boolean())
  .map(([levels, hasTail]) => [...levels, ...(hasTail || levels.length === 0 ? ['#'] : [])].join('/'));

const sinktopic = fc.constantFrom('', '', '.', 'a', 'b/a', 'x/', 'a/', 'a/+', '+/b', 'b/#', '#', 'x/+/#', '$s/+');
const mapping = fc.oneof(
  { weight: 3, arbitrary: sinktopic.map((to) => ({ sinktopic: to })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      { LocalPrefix: 'a/', RemotePrefix: 'b/' },
      { LocalPrefix: 'a/' },
      { RemotePrefix: '$s/' },
      { LocalPrefix: '$s/', RemotePrefix: 'a/' },
    ),
  },
);

const rule = fc
  .tuple(
    fc.integer({ min: 1, max: 4 }),
    fc.integer({ min: 1, max: 4 }),
    fc.record({
      sourcetopic: filter,
      Exclude: fc.oneof(fc.constant([]), fc.array(filter, { maxLength: 3 })),
      Direction: fc.constantFrom('out' as const, 'out' as const, 'in' as const, 'both' as const),
    }),
    mapping,
  )
  .map(([source, sink, words, to]) =>
    Mirror.parse({ Source: `127.0.0.1:${source}`, Sink: { URL: `tcp://localhost:${sink}` }, ...words, ...to }),
  );

/** Rules that are legal, as the oracle and as the proof take them. */
const bothWays = (mirrors: readonly Mirror[]): { readonly tried: TriedRule[]; readonly hops: Hop[] } => {
  const [tried, hops]: [TriedRule[], Hop[]] = [[], []];
  for (const [at, words] of mirrors.entries()) {
    const { flows, faults } = flowsOf(words, deps);
    if (faults.length > 0) continue;
    const portOf = (url: unknown): string => /\d+$/.exec(String(url))?.[0] ?? '';
    tried.push({ words, source: portOf(words.Source), sink: portOf(words.Sink.URL) });
    hops.push(...flows.map((flow) => hopOf(`rule ${at}`, flow)));
  }
  return { tried, hops };
};

describe('loops', () => {
  test('issue 6: over up to four brokers every set of rules with a loop is found, and no other', () => {
    const found = { loop: 0, none: 0 };
    fc.assert(
      fc.property(fc.array(rule, { minLength: 1, maxLength: 4 }), (mirrors) => {
        const { tried, hops } = bothWays(mirrors);
        const isLoop = findLoop(hops) !== null;
        found[isLoop ? 'loop' : 'none'] += 1;
        expect(isLoop).toBe(isFoundByTrying(tried, isLoop));
      }),
      { numRuns: 3_000 },
    );
    // Neither answer is rare, or the comparison would say little.
    expect(Math.min(found.loop, found.none)).toBeGreaterThan(300);
  }, 60_000);

  test('of a rule that is added to rules without a loop the same is found as of all of them', () => {
    fc.assert(
      fc.property(fc.array(rule, { minLength: 1, maxLength: 4 }), rule, (mirrors, added) => {
        const before = bothWays(mirrors).hops;
        fc.pre(findLoop(before) === null);
        const own = bothWays([added]).hops;
        const all = [...before, ...own];
        expect(findLoop(all, own) !== null).toBe(findLoop(all) !== null);
      }),
      { numRuns: 3_000 },
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

  test('a filter is covered by others exactly when each of its topics is in one of them', () => {
    fc.assert(
      fc.property(filter, fc.array(filter, { maxLength: 4 }), (wide, others) => {
        const isEach = topics.every(
          (topic) => !matchesFilter(wide, topic) || others.some((other) => matchesFilter(other, topic)),
        );
        expect(isCoveredBy(patternOf(wide), others.map(patternOf))).toBe(isEach);
      }),
      { numRuns: 500 },
    );
  });

  const between = (
    name: string,
    [from, to]: readonly [string, string],
    source: string,
    sink: string,
    excluded = '',
  ): Hop => {
    const mapping = topicMapping({ source, sink, localPrefix: '', remotePrefix: '' });
    return {
      name,
      from,
      to,
      taken: takenBy(patternOf(source), mapping),
      excluded: excluded === '' ? [] : [patternOf(excluded)],
      mapping,
    };
  };

  test('the cycle is spelled out', () => {
    const there = between('there', ['one', 'two'], 's/#', 'mirror/');
    const loop = findLoop([there, between('back', ['two', 'one'], 'mirror/#', 's/')]);
    expect(loopText(loop ?? [])).toBe('there: s/# (one → two), back: mirror/s/# (two → one), then there again');
    expect(findLoop([there, between('back', ['two', 'one'], 'b/#', '')])).toBeNull();
  });

  test('Exclude is a proof where it leaves out all that comes back, and only there', () => {
    const there = between('there', ['one', 'two'], '#', 'one/');
    const back = (excluded: string) => between('back', ['two', 'one'], '#', 'two/', excluded);
    expect(findLoop([there, back('')])).not.toBeNull();
    expect(findLoop([there, back('one/+')])).not.toBeNull();
    expect(findLoop([there, back('one/#')])).toBeNull();
    expect(findLoop([between('there', ['one', 'two'], '#', '', 'two/#'), back('')])).toBeNull();
  });

  test('a wildcard in front finds no $ topics, so that a mirror of everything is not a mirror of $SYS', () => {
    expect(meet(patternOf('#'), patternOf('$SYS/#'))).toBeNull();
  });

  test('rules that feed each other in far too many ways are refused, and soon', () => {
    const steps = Array.from({ length: 40 }, (_, n) => [n, n] as const).flatMap(([n]) =>
      ['one', 'two'].map((way) => between(`${n} ${way}`, ['b', 'b'], `t/${n}`, `t/${n + 1}`)),
    );
    expect(() => findLoop(steps)).toThrow(/too many rules feed each other/);
  });
});
