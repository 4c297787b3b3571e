import { AppError } from '@infrakit/core';
import { expect, test } from 'vitest';
import type { CycleOutcome } from '../loop/outcome.ts';
import { conditionsOf } from './conditions.ts';

type Completed = Extract<CycleOutcome, { kind: 'completed' }>;

const none = {
  desired: 0,
  observed: 0,
  created: 0,
  labelled: 0,
  replaced: 0,
  destroyed: 0,
  failed: 0,
  deferred: 0,
  quarantined: 0,
  foreign: 0,
};

const completed = (facts: Partial<Completed> = {}, endedMs = 10): Completed => ({
  cycleId: 'c',
  startedMs: 0,
  endedMs,
  kind: 'completed',
  source: { kind: 'known' },
  plan: { id: 'p', acts: [] },
  held: null,
  counts: none,
  failures: [],
  againAtMs: null,
  ...facts,
});

const failed = (endedMs: number): CycleOutcome => ({
  cycleId: 'c',
  startedMs: 0,
  endedMs,
  kind: 'failed',
  at: 'sink',
  error: new AppError('RPC_TIMEOUT', 'no answer'),
});

const held = { planId: 'p', destroys: ['i-1'], reason: '1 unexplained destroys exceed the budget' };

const table = (outcome: CycleOutcome, before = conditionsOf(completed({}, 1), [])) =>
  Object.fromEntries(conditionsOf(outcome, before).map(({ type, isTrue, reason }) => [type, [isTrue, reason]]));

test('a cycle with nothing to do: ready and converged, nothing else', () => {
  expect(table(completed())).toEqual({
    Ready: [true, ''],
    SourceKnown: [true, ''],
    Held: [false, ''],
    Failing: [false, ''],
    Quarantined: [false, ''],
    Converged: [true, ''],
  });
});

test.each<[string, Partial<Completed>, Record<string, [boolean, string]>]>([
  ['an unknown source', { source: { kind: 'unknown', reason: 'starting' } }, { SourceKnown: [false, 'starting'] }],
  ['a partial source', { source: { kind: 'partial', reason: 'torn' } }, { SourceKnown: [false, 'torn'] }],
  ['a hold', { held }, { Held: [true, `${held.reason}; approve plan p to let it through`] }],
  [
    'a failure',
    {
      counts: { ...none, failed: 1 },
      failures: [
        { act: { kind: 'create', key: 'a', sourceId: 'a' }, error: new AppError('INSTANCE_FAILED', 'no room') },
      ],
    },
    { Failing: [true, 'create: no room'] },
  ],
  ['a bad member', { counts: { ...none, quarantined: 2 } }, { Quarantined: [true, '2 entries have no usable key'] }],
  ['a creation', { counts: { ...none, created: 1 } }, {}],
  ['something deferred', { counts: { ...none, deferred: 1 } }, {}],
])('%s is not converged, though ready', (_, facts, expected) => {
  expect(table(completed(facts))).toMatchObject({ Ready: [true, ''], Converged: [false, ''], ...expected });
});

test('a condition that stays keeps the time since when; one that changes has that of its cycle', () => {
  const first = conditionsOf(completed({ held }, 100), []);
  const second = conditionsOf(completed({ held: { ...held, reason: 'more' } }, 200), first);
  const third = conditionsOf(completed({}, 300), second);
  const sinceOf = (conditions: typeof first) => conditions.find(({ type }) => type === 'Held');
  expect(sinceOf(second)).toEqual({
    type: 'Held',
    isTrue: true,
    reason: 'more; approve plan p to let it through',
    sinceMs: 100,
  });
  expect(sinceOf(third)).toEqual({ type: 'Held', isTrue: false, reason: '', sinceMs: 300 });
});

test('a failed cycle says why, and a held rule does not look free for it', () => {
  const before = conditionsOf(completed({ held }, 100), []);
  expect(table(failed(200), before)).toMatchObject({
    Ready: [false, 'sink: no answer'],
    Converged: [false, 'sink: no answer'],
    Held: [true, `${held.reason}; approve plan p to let it through`],
  });
  const after = conditionsOf(completed({ held }, 300), conditionsOf(failed(200), before));
  expect(after.find(({ type }) => type === 'Held')?.sinceMs).toBe(100);
});
