import { AppError, emptyLedger, type ObservedEntry } from '@infrakit/core';
import { expect, test } from 'vitest';
import { cycleMemory, earliestExpected, forgetSeen, forgetUnplanned } from './cycle-memory.ts';

const memory = () =>
  cycleMemory({
    load: async () => ({ ledger: emptyLedger, commit: null }),
    save: async () => undefined,
    remove: async () => undefined,
  });

const entry = (id: string): ObservedEntry => ({
  id,
  key: { kind: 'known', value: id },
  ownership: { kind: 'ours' },
});

test('EI-E15: an accepted creation is waited for until the sink shows it or its grace is over', () => {
  const one = memory();
  one.creating.set('a', { id: 'i-a', untilMs: 100 });
  one.creating.set('b', { id: 'i-b', untilMs: 100 });
  one.creating.set('c', { id: 'i-c', untilMs: 99 });
  forgetSeen(one, [entry('i-a')], 99);
  expect([...one.creating.keys()]).toEqual(['b']);
  forgetSeen(one, [], 100);
  expect(one.creating.size).toBe(0);
});

test('EI-E15: an accepted destroy is waited for until the sink no longer shows it or its grace is over', () => {
  const one = memory();
  one.destroying.set('gone', 100);
  one.destroying.set('shown', 100);
  one.destroying.set('late', 99);
  forgetSeen(one, [entry('shown'), entry('late')], 99);
  expect([...one.destroying.keys()]).toEqual(['shown']);
});

test('the first accepted act that should show is the first that is looked for', () => {
  const one = memory();
  expect(earliestExpected(one)).toBeUndefined();
  one.creating.set('a', { id: 'i-a', untilMs: 300 });
  one.destroying.set('i-b', 200);
  expect(earliestExpected(one)).toBe(200);
  one.creating.set('c', { id: 'i-c', untilMs: 100 });
  expect(earliestExpected(one)).toBe(100);
});

test('Law 9: failures of what is no longer planned are forgotten, the others kept', () => {
  const one = memory();
  const error = new AppError('INSTANCE_FAILED', 'no');
  for (const name of ['create:a', 'destroy:b']) one.errors.set(name, error);
  one.backoff = new Map(['create:a', 'destroy:b'].map((name) => [name, { failures: 2, notBefore: 5 }]));
  forgetUnplanned(one, new Set(['create:a']));
  expect([...one.errors.keys()]).toEqual(['create:a']);
  expect([...one.backoff.keys()]).toEqual(['create:a']);
});
