import { type Act, type ObservedEntry, planId } from '@infrakit/core';
import { expect, test } from 'vitest';
import { explainByCommit, forgetDeparted, nameDepartures } from './commit-explanation.ts';

const planOf = (...acts: Act[]) => ({ id: planId(acts), acts });

const destroy = (id: string): Act => ({ kind: 'destroy', id, key: id, sourceId: id });

const departure: Act = {
  kind: 'destroy',
  id: 'left',
  explained: { by: 'departure', cause: 'scale', revision: 1 },
};

const keep = (id: string): Act => ({ kind: 'keep', id, key: id, sourceId: id });

const entries = (...ids: string[]): ObservedEntry[] =>
  ids.map((id) => ({ id, key: { kind: 'known', value: id }, ownership: { kind: 'ours' } }));

test('Law 6: the first plan after the commit names what it explains, without what is explained already', () => {
  const named = nameDepartures({ revision: 2, ids: null }, planOf(destroy('a'), keep('b'), departure, destroy('c')));
  expect(named).toEqual({ revision: 2, ids: ['a', 'c'] });
});

test('Law 6: a later plan names nothing more, and without a commit nothing is named', () => {
  const commit = { revision: 2, ids: ['a'] };
  expect(nameDepartures(commit, planOf(destroy('a'), destroy('b')))).toBe(commit);
  expect(nameDepartures(null, planOf(destroy('a')))).toBeNull();
});

test('Law 6: only the named destroys are explained, and the id of the plan is the same', () => {
  const plan = planOf(destroy('a'), destroy('b'), departure);
  const explained = explainByCommit(plan, { revision: 2, ids: ['a', 'left'] });
  expect(explained.id).toBe(plan.id);
  expect(explained.acts).toEqual([
    { ...destroy('a'), explained: { by: 'commit', revision: 2 } },
    destroy('b'),
    departure,
  ]);
  for (const none of [null, { revision: 2, ids: null }, { revision: 2, ids: [] }]) {
    expect(explainByCommit(plan, none)).toBe(plan);
  }
});

test('Law 6: what the sink no longer shows is forgotten; nothing left, nothing kept', () => {
  const commit = { revision: 2, ids: ['a', 'b'] };
  expect(forgetDeparted(commit, entries('a', 'b', 'c'), planOf(destroy('a'), destroy('b')))).toBe(commit);
  expect(forgetDeparted(commit, entries('b', 'c'), planOf(destroy('b')))).toEqual({ revision: 2, ids: ['b'] });
  expect(forgetDeparted(commit, entries('c'), planOf())).toBeNull();
  expect(forgetDeparted({ revision: 2, ids: [] }, entries('c'), planOf())).toBeNull();
});

test('Law 6: before anything is named, nothing is forgotten', () => {
  const commit = { revision: 2, ids: null };
  expect(forgetDeparted(commit, [], planOf())).toBe(commit);
  expect(forgetDeparted(null, [], planOf())).toBeNull();
});

test('Law 6: an entry that was wanted again is no longer explained by the commit that had sent it away', () => {
  const commit = { revision: 2, ids: ['a', 'b'] };
  const acts: Act[] = [{ kind: 'label', id: 'a', key: 'a', sourceId: 'a' }, destroy('b')];
  expect(forgetDeparted(commit, entries('a', 'b'), planOf(...acts))).toEqual({ revision: 2, ids: ['b'] });
  expect(forgetDeparted(commit, entries('a', 'b'), planOf(keep('a'), keep('b')))).toBeNull();
});

test('Law 6: an entry whose destroy is under way, and so in no plan, stays explained', () => {
  const commit = { revision: 2, ids: ['a'] };
  expect(forgetDeparted(commit, entries('a'), planOf())).toBe(commit);
});
