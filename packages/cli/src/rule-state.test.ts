import type { RuleProgress } from '@infrakit/spi';
import { expect, test } from 'vitest';
import type { BusObject } from './objects.ts';
import { heldSentence, stateSummary } from './rule-state.ts';

const member = { ID: 'a', LogicalID: null, Tags: null, Health: 'healthy' };

test.each([
  [
    'counts the items of a rule',
    [
      { Key: 'a', State: 'removing' },
      { Key: 'b', State: 'enrolled' },
      { Key: 'c', State: 'enrolled' },
    ],
    '2 enrolled, 1 removing',
  ],
  [
    'says why a rule is held (Law 6)',
    [{ Key: 'a', State: 'removing' }],
    '1 removing; held: 4 unexplained destroys exceed the budget',
    { kind: 'held', reason: '4 unexplained destroys exceed the budget', plan: 'p1' },
  ],
  ['an empty rule', [], 'no entries'],
  ['a group that is as it should be', { Instances: [member], Converged: true, Phase: 'active' }, '1 members'],
  [
    'a group that is not',
    { Instances: [], Converged: false, Reason: '0 of 3 members', Phase: 'active' },
    '0 of 3 members',
  ],
  [
    'a group held by hand',
    { Instances: [member], Converged: true },
    '1 members; held: held by hand',
    { kind: 'held', reason: 'held by hand' },
  ],
  ['a state that is not there', undefined, '-'],
] as readonly [string, unknown, string, RuleProgress?][])('a state in a few words: %s', (_, state, words, progress) => {
  expect(stateSummary({ state }, progress)).toBe(words);
});

const objectAt = (name: string, object: string): BusObject => ({
  name,
  plugin: 'mystack',
  object,
  interfaces: new Map(),
  proxyFor: name.slice('mystack/'.length),
});

test.each([
  [objectAt('mystack/nfs', 'nfs'), 'p1', 'to let them through: infrakit local mystack/nfs approve a --plan p1'],
  [objectAt('mystack/nfs/a', 'nfs/a'), 'p1', 'to let them through: infrakit local mystack/nfs/a approve --plan p1'],
  [objectAt('mystack/nfs/a', 'nfs/a'), undefined, 'to go on: infrakit local mystack/nfs/a resume'],
])('Law 6: what is held says what to type', (object, plan, words) => {
  const progress = { kind: 'held' as const, reason: 'why', ...(plan !== undefined && { plan }) };
  expect(heldSentence(object, 'a', progress)).toBe(`a is held: why; ${words}`);
});
