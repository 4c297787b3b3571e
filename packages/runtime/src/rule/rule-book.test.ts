import { memoryJournal, testingContext } from '@infrakit/spi';
import { NEVER } from 'rxjs';
import { describe, expect, test } from 'vitest';
import type { CycleOutcome } from '../loop/outcome.ts';
import { virtualClock } from '../work/clock.ts';
import { workerPool } from '../work/worker-pool.ts';
import { defaultRuleSettings, type Source } from './rule.ts';
import { ruleBook } from './rule-book.ts';
import type { RuleKind } from './rule-kind.ts';

const ctx = testingContext();
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** A book of rules that want nothing of an empty sink, and what their hooks were told. */
const start = (readSource: () => Source<never> = () => ({ kind: 'known', items: [] })) => {
  const clock = virtualClock();
  const seen: CycleOutcome[] = [];
  const settled: number[] = [];
  const retired: (string | null)[] = [];
  const kind: RuleKind<never, never> = {
    kind: 'nothing',
    accept: async (spec, revision, owner) => ({
      rule: {
        name: 'nothing/a',
        owner,
        settings: {
          ...defaultRuleSettings,
          callTimeoutMs: 1_000,
          maxCallTimeoutMs: 10_000,
          graceMs: 1_000,
        },
        revision,
        readSource: async () => readSource(),
        readSink: async () => [],
        keys: () => ({ source: { kind: 'known', entries: [] }, observed: [], itemOf: () => undefined }),
        contentOf: () => '',
        create: async () => 'never',
        label: async () => {},
        destroy: async () => {},
        settled: async (upTo) => {
          settled.push(upTo);
        },
      },
      timing: { quietMs: 10, maxWaitMs: 100, syncIntervalMs: 1_000 },
      triggers: NEVER,
      sourceHash: String(spec.properties),
      warnings: [],
      onDestroy: 'leave',
      seen: (outcome) => seen.push(outcome),
      retire: async (next) => {
        retired.push(next === null ? null : next.sourceHash);
        if (next === null) throw new Error('who is told that it ends may fail');
      },
    }),
    planLines: () => [],
    stateOf: () => null,
  };
  const book = ruleBook(kind, {
    name: 'nothing',
    stackId: 'stack',
    journal: memoryJournal(),
    state: { publish: () => {}, clear: () => {} },
    clock,
    random: () => 0.5,
    pool: workerPool({ concurrency: 1 }),
    log: silent,
    newId: () => 'c',
    patienceMs: 100,
    changed: () => {},
  });
  const commit = (revision: number, properties: string) =>
    book.commit('a', { spec: { kind: 'nothing', metadata: { name: 'a' }, properties }, revision }, ctx);
  return { clock, seen, settled, retired, book, commit };
};

describe('the hooks of an accepted spec', () => {
  test('it hears of each cycle, what took its place, and that it is forgotten; its failure holds up nothing', async () => {
    const { clock, seen, retired, book, commit } = start();
    await commit(1, 'one');
    await clock.advance(3_000);
    expect(seen.length).toBeGreaterThanOrEqual(2);
    await commit(2, 'two');
    expect(retired).toEqual(['two']);
    await book.enter('a', 'destroying', '', ctx);
    expect(retired).toEqual(['two', null]);
    expect(book.names()).toEqual([]);
  });

  test('a revision is acknowledged once, and a lower one again: the source was made anew', async () => {
    let revision = 7;
    const { clock, settled, book, commit } = start(() => ({ kind: 'known', items: [], revision }));
    await commit(1, 'one');
    await clock.advance(5_000);
    expect(settled).toEqual([7]);
    revision = 2;
    await clock.advance(5_000);
    expect(settled).toEqual([7, 2]);
    await book.stop();
  });
});
