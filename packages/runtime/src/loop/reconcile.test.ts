import { type Departure, emptyLedger, type ObservedEntry } from '@infrakit/core';
import { expect, test } from 'vitest';
import { defaultRuleSettings, type Rule, type Source } from '../rule/rule.ts';
import { virtualClock } from '../work/clock.ts';
import { seededRandom } from '../work/random.ts';
import { workerPool } from '../work/worker-pool.ts';
import { cycleMemory } from './cycle-memory.ts';
import { reconcile } from './reconcile.ts';

const left: Departure[] = [{ ID: 'left', Cause: 'scale', Revision: 7 }];

const entry = (sourceId: string, facts: Partial<ObservedEntry> = {}): ObservedEntry => ({
  id: `i-${sourceId}`,
  key: { kind: 'known', value: sourceId },
  ownership: { kind: 'ours' },
  sourceId,
  ...facts,
});

/** One rule over a list of entries; `settled` revisions are recorded. */
const setUp = (observed: ObservedEntry[], options: { readonly settled?: () => Promise<void> } = {}) => {
  const clock = virtualClock();
  const settled: number[] = [];
  const unreadable = { kind: 'unknown', reason: 'no key' } as const;
  let source: Source<string> = { kind: 'known', items: [], target: 5, count: 0, revision: 7, departures: left };
  const rule: Rule<string, ObservedEntry> = {
    name: 'enrollment/nfs',
    owner: 'stack/enrollment/nfs',
    revision: 1,
    settings: {
      ...defaultRuleSettings,
      sourcePolicy: 'DisableDestroy',
      callTimeoutMs: 10_000,
      maxCallTimeoutMs: 100_000,
    },
    readSource: async () => source,
    readSink: async () => [...observed],
    keys: (reading, entries) => ({
      source:
        reading.kind === 'unknown'
          ? reading
          : {
              ...reading,
              entries: reading.items.map((id) => ({
                id,
                key: id === 'bad' ? unreadable : { kind: 'known', value: id },
              })),
            },
      observed: entries,
      itemOf: (id) => id,
    }),
    contentOf: (item) => item,
    create: async (item) => {
      observed.push(entry(item));
      return `i-${item}`;
    },
    label: async () => undefined,
    destroy: async (id) => {
      observed.splice(
        observed.findIndex((one) => one.id === id),
        1,
      );
    },
    settled: async (revision) => {
      await options.settled?.();
      settled.push(revision);
    },
  };
  const memory = cycleMemory({
    load: async () => ({ ledger: emptyLedger, commit: null }),
    save: async () => undefined,
    remove: async () => undefined,
  });
  const said: unknown[] = [];
  const log = { debug: () => {}, info: (facts: object) => void said.push(facts), warn: () => {}, error: () => {} };
  const deps = {
    clock,
    random: seededRandom(1),
    pool: workerPool({ concurrency: 8 }),
    log,
    newId: () => 'c',
    patienceMs: 1_000,
    wake: () => undefined,
  };
  const cycle = async () => {
    const outcome = reconcile(rule, { memory, deps, signal: new AbortController().signal });
    await clock.advance(60_000);
    return outcome;
  };
  return {
    cycle,
    settled,
    said,
    setSource: (facts: Partial<Extract<Source<string>, { kind: 'known' }>>): void => {
      source = { kind: 'known', items: [], target: 5, count: 0, revision: 7, departures: left, ...facts };
    },
  };
};

test('Law 6: departures are acknowledged once, when nothing of theirs is left to remove', async () => {
  const { cycle, settled } = setUp([entry('left')]);
  await cycle();
  expect(settled).toEqual([]);
  await cycle();
  await cycle();
  expect(settled).toEqual([7]);
});

test('Law 6: not while the entry of somebody who left must stay for now: it would lose its explanation', async () => {
  const { cycle, settled, setSource } = setUp([entry('left')]);
  setSource({ items: ['bad'] });
  await cycle();
  await cycle();
  expect(settled).toEqual([]);
  setSource({ items: [] });
  await cycle();
  await cycle();
  expect(settled).toEqual([7]);
});

test('Law 6: an entry in quarantine that is of nobody who left does not keep departures from being trimmed', async () => {
  const { cycle, settled } = setUp([entry('other', { key: { kind: 'unknown', reason: 'no key' } })]);
  await cycle();
  expect(settled).toEqual([7]);
});

test('an acknowledgement that fails is made again', async () => {
  let isBroken = true;
  const { cycle, settled } = setUp([], {
    settled: async () => {
      if (isBroken) throw new Error('gone');
    },
  });
  expect(await cycle()).toMatchObject({ kind: 'completed' });
  expect(settled).toEqual([]);
  isBroken = false;
  await cycle();
  expect(settled).toEqual([7]);
});

test('a cycle that acted says so in one line with its counts; one with nothing to do says nothing', async () => {
  const { cycle, said, setSource } = setUp([entry('left')]);
  setSource({ items: ['new', 'newer'] });
  await cycle();
  const facts = { cycleId: 'c', rule: 'enrollment/nfs', created: 2, labelled: 0, replaced: 0, destroyed: 1, failed: 0 };
  expect(said).toEqual([{ ...facts, tookMs: expect.any(Number) }]);
  await cycle();
  await cycle();
  expect(said).toHaveLength(1);
});
