import { filtersOverlap } from '@infrakit/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { flowsOf } from '../wire/flow.ts';
import { Mirror } from './mirror.ts';
import { ruleRanks } from './rule-ranks.ts';

const quiet = (): void => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const flows = (sourcetopic: string, Source = '127.0.0.1:1') =>
  flowsOf(Mirror.parse({ Source, Sink: { URL: '127.0.0.1:2' }, sourcetopic }), {
    broker: null,
    keepsBuffers: false,
    variable: () => undefined,
    log,
  }).flows;
const ranksOf = (...filters: readonly string[]): number[] => ruleRanks(filters.map((filter) => flows(filter)));

describe('GP-R10: ranks of the rules of a spec', () => {
  test('rules that want nothing in common are equal; of those that do the first has the lower rank', () => {
    expect(ranksOf('a/1', 'b/2', 'c/#')).toEqual([0, 0, 0]);
    expect(ranksOf('a/+', '+/b', '#')).toEqual([0, 1, 2]);
    expect(ranksOf('#', 'a', 'a')).toEqual([0, 1, 2]);
  });

  test('rules of different sources have nothing in common', () => {
    expect(ruleRanks([flows('#'), flows('#', '127.0.0.1:9')])).toEqual([0, 0]);
  });

  test('a rule put in between changes the rank of no rule that it has nothing in common with', () => {
    expect(ranksOf('a/#', 'x', 'a/b')).toEqual([0, 0, 1]);
    expect(ranksOf('a/#', 'x', 'y/#', 'a/b')).toEqual([0, 0, 0, 1]);
  });

  test('whatever the rules: of two that can want one topic the first has the lower rank', () => {
    const filter = fc.constantFrom('a', 'b', 'a/b', 'a/+', '+/b', '#', 'a/#', '+', 'b/#', '+/+/c');
    fc.assert(
      fc.property(fc.array(filter, { maxLength: 12 }), (filters) => {
        const ranks = ranksOf(...filters);
        for (const [second, later] of filters.entries()) {
          for (const [first, earlier] of filters.slice(0, second).entries()) {
            if (filtersOverlap(earlier, later)) expect(ranks[first]).toBeLessThan(ranks[second] ?? 0);
          }
        }
      }),
    );
  });
});
