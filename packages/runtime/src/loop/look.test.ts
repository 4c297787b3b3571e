import { emptyLedger, type ObservedEntry } from '@infrakit/core';
import { memoryJournal, testingContext } from '@infrakit/spi';
import { expect, test } from 'vitest';
import { ledgerStore } from '../log/ledger-store.ts';
import { defaultRuleSettings, type Rule, type RuleSettings, type Source } from '../rule/rule.ts';
import { virtualClock } from '../work/clock.ts';
import { seededRandom } from '../work/random.ts';
import { workerPool } from '../work/worker-pool.ts';
import { cycleMemory } from './cycle-memory.ts';
import { type Look, look } from './look.ts';

const ctx = testingContext();

const entry = (id: string, facts: Partial<ObservedEntry> = {}): ObservedEntry => ({
  id,
  key: { kind: 'known', value: id },
  ownership: { kind: 'ours' },
  sourceId: id,
  content: '1',
  ...facts,
});

/** A rule whose two sides never change unless told, so that a second look may rest. */
const setUp = (observed: readonly ObservedEntry[] = [entry('a')], content = '1') => {
  const source: Source<string> = { kind: 'known', items: ['a'] };
  let planned = 0;
  let entries = observed;
  const ruleWith = (settings: Partial<RuleSettings> = {}): Rule<string, ObservedEntry> => ({
    name: 'enrollment/nfs',
    owner: 'stack/enrollment/nfs',
    revision: 1,
    settings: { ...defaultRuleSettings, ...settings },
    readSource: async () => source,
    readSink: async () => observed,
    keys: () => {
      planned += 1;
      return {
        source: { kind: 'known', entries: [{ id: 'a', key: { kind: 'known', value: 'a' }, content }] },
        observed: entries,
        itemOf: (id) => id,
      };
    },
    contentOf: () => content,
    create: async () => 'a',
    label: async () => undefined,
    destroy: async () => undefined,
  });
  const memory = cycleMemory(ledgerStore(memoryJournal(), 'enrollment/nfs'));
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const deps = {
    clock: virtualClock(),
    random: seededRandom(1),
    pool: workerPool({ concurrency: 8 }),
    log,
    newId: () => 'c',
    patienceMs: 1_000,
    wake: () => undefined,
  };
  return {
    memory,
    ruleWith,
    planned: () => planned,
    /** What the same sink means from now on, as after an adoption. */
    regard: (now: readonly ObservedEntry[]): void => {
      entries = now;
    },
    see: async (rule: Rule<string, ObservedEntry>): Promise<Look<string>> => {
      const seen = await look(rule, { memory, deps, ctx });
      if ('at' in seen) throw seen.error;
      return seen;
    },
  };
};

test('a look that found nothing to do serves again while nothing is new', async () => {
  const { ruleWith, see, planned } = setUp();
  const rule = ruleWith();
  const first = await see(rule);
  expect(await see(rule)).toBe(first);
  expect(planned()).toBe(1);
});

test('a commit that changes only how the rule is kept was hidden by the last look', async () => {
  const { ruleWith, see } = setUp([entry('a')], '2');
  expect((await see(ruleWith())).plan.acts.map(({ kind }) => kind)).toEqual(['keep']);
  const replacing = await see(ruleWith({ onChange: 'replace' }));
  expect(replacing.plan.acts.map(({ kind }) => kind)).toEqual(['replace']);
});

test('a budget record that somebody else saved was overwritten by that of the last look', async () => {
  const { ruleWith, see, memory } = setUp();
  const rule = ruleWith();
  await see(rule);
  await memory.ledger.save({ ledger: emptyLedger, commit: { revision: 2, ids: ['b'] } }, ctx);
  expect((await see(rule)).record).toEqual({ ledger: emptyLedger, commit: null });
  await memory.ledger.save({ ledger: emptyLedger, commit: { revision: 2, ids: null } }, ctx);
  expect((await see(rule)).record).toEqual({ ledger: emptyLedger, commit: { revision: 2, ids: [] } });
});

test('Law 4: an adoption without any change of either side was hidden by the last look', async () => {
  const untagged = (adopted: boolean) => entry('a', { ownership: { kind: 'untagged', adopted, destroyable: false } });
  const { ruleWith, see, regard } = setUp([untagged(false)]);
  const rule = ruleWith();
  expect((await see(rule)).plan.acts.map(({ kind }) => kind)).toEqual(['keep']);
  regard([untagged(true)]);
  expect((await see(rule)).plan.acts.map(({ kind }) => kind)).toEqual(['label']);
});

test('Law 6: without its record a plan keeps its id and all but the destroys that only the record explains', async () => {
  const { see, ruleWith, memory } = setUp([entry('a'), entry('b'), entry('c')]);
  const broken = { ...memory.ledger, load: () => Promise.reject(new Error('no store')) };
  Object.assign(memory, { ledger: broken });
  const { plan, admission, record } = await see(ruleWith());
  expect(record).toBeNull();
  expect(admission.plan.id).toBe(plan.id);
  expect(admission.plan.acts.map(({ kind }) => kind)).toEqual(['keep']);
  expect(admission.held).toEqual({ planId: plan.id, destroys: ['b', 'c'] });
});
