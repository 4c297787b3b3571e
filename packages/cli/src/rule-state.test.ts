import { expect, test } from 'vitest';
import { heldReason, stateSummary } from './rule-state.ts';

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
    [{ Key: 'a', State: 'removing', Data: { held: '4 unexplained destroys exceed the budget' } }],
    '1 removing; held: 4 unexplained destroys exceed the budget',
  ],
  ['an empty rule', [], 'no entries'],
  ['a group that is as it should be', { Instances: [member], Converged: true, Phase: 'active' }, '1 members'],
  [
    'a group that is not',
    { Instances: [], Converged: false, Reason: '0 of 3 members', Phase: 'active' },
    '0 of 3 members',
  ],
  ['a group held by hand', { Instances: [member], Converged: true, Phase: 'held' }, '1 members; held: held by hand'],
  ['a state that is not there', undefined, '-'],
] as const)('a state in a few words: %s', (_, state, words) => {
  expect(stateSummary({ state })).toBe(words);
});

test('nothing is held unless somebody says so', () => {
  expect(heldReason({ state: [{ Key: 'a', State: 'removing', Data: {} }] })).toBe(null);
  expect(heldReason({ state: { Phase: 'active' } })).toBe(null);
});
