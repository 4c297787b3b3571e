import { AppError } from '@infrakit/core';
import type { RuleProgress } from '@infrakit/spi';
import { expect, test } from 'vitest';
import type { CycleOutcome } from './outcome.ts';
import { progressOf } from './progress.ts';

type Completed = Extract<CycleOutcome, { kind: 'completed' }>;

const none = {
  ...{ desired: 0, observed: 0, created: 0, labelled: 0, replaced: 0, destroyed: 0 },
  ...{ failed: 0, deferred: 0, quarantined: 0, foreign: 0 },
};
const cycle = { cycleId: 'c', startedMs: 0, endedMs: 10 };
const completed = (facts: Partial<Completed> = {}): Completed => ({
  ...cycle,
  kind: 'completed',
  source: { kind: 'known' },
  plan: { id: 'p', acts: [] },
  held: null,
  counts: none,
  failures: [],
  againAtMs: null,
  ...facts,
});
const error = new AppError('RPC_TIMEOUT', 'no answer');
const held = { planId: 'p', destroys: ['i-1'], reason: 'too many' };
const create = { kind: 'create', key: 'a', sourceId: 'a' } as const;

test.each<[string, CycleOutcome | null, RuleProgress]>([
  ['nobody has looked since the commit', null, { kind: 'working', reason: 'not looked at yet' }],
  ['all that was planned is done', completed({ counts: { ...none, created: 3 } }), { kind: 'converged' }],
  [
    'the sink cannot be read',
    { ...cycle, kind: 'failed', at: 'sink', error },
    { kind: 'working', reason: 'sink: no answer' },
  ],
  [
    'the source does not know',
    completed({ source: { kind: 'unknown', reason: 'no group' } }),
    { kind: 'working', reason: 'no group' },
  ],
  [
    'an act failed',
    completed({ failures: [{ act: create, error }] }),
    { kind: 'working', reason: 'create: no answer' },
  ],
  [
    'acts hang',
    completed({ counts: { ...none, deferred: 2 } }),
    { kind: 'working', reason: '2 acts are not done yet' },
  ],
  ['the budget holds it', completed({ held }), { kind: 'held', reason: 'too many', plan: 'p' }],
  [
    'an entry has no key',
    completed({ counts: { ...none, quarantined: 1 } }),
    { kind: 'quarantined', reason: '1 entries have no usable key' },
  ],
])('how far a rule in force is: %s', (_, outcome, progress) => {
  expect(progressOf(outcome, { phase: 'active', reason: '', underWay: 0 })).toEqual(progress);
});

test('what is held by hand says why, what is freed is done when nothing is under way, what is destroyed never is', () => {
  const at = (phase: 'held' | 'freed' | 'destroying', underWay = 0) =>
    progressOf(completed(), { phase, reason: 'a reason', underWay });
  expect(at('held')).toEqual({ kind: 'held', reason: 'a reason' });
  expect(at('freed')).toEqual({ kind: 'converged' });
  expect(at('freed', 2)).toEqual({ kind: 'working', reason: '2 acts are under way' });
  expect(at('destroying')).toEqual({ kind: 'working', reason: 'being destroyed' });
});
