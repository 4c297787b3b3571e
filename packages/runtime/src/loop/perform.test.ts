import { type Act, AppError, emptyLedger, idempotencyKey, planId } from '@infrakit/core';
import type { CallContext } from '@infrakit/spi';
import { describe, expect, test } from 'vitest';
import { defaultRuleSettings, type Rule } from '../rule/rule.ts';
import { virtualClock } from '../work/clock.ts';
import { seededRandom } from '../work/random.ts';
import { workerPool } from '../work/worker-pool.ts';
import { cycleMemory } from './cycle-memory.ts';
import { nameOf, perform } from './perform.ts';

const create = (key: string, content?: string): Act => ({
  kind: 'create',
  key,
  sourceId: key,
  ...(content === undefined ? {} : { content }),
});
const destroy = (id: string): Act => ({ kind: 'destroy', id, key: id, sourceId: id });

/** Acts played against calls that are recorded, and that a test lets hang or fail by their name. */
const setUp = (options: { readonly concurrency?: number; readonly order?: 'adds-first' | 'removes-first' } = {}) => {
  const clock = virtualClock();
  const calls: string[] = [];
  const items = new Map<string, string>();
  const contexts: CallContext[] = [];
  const behaviour: Record<string, () => Promise<unknown>> = {};
  const abort = new AbortController();
  let wakes = 0;
  const call = async (name: string, ctx: CallContext): Promise<void> => {
    calls.push(name);
    contexts.push(ctx);
    await behaviour[name]?.();
  };
  const rule: Rule<string, never> = {
    name: 'enrollment/nfs',
    owner: 'stack/enrollment/nfs',
    revision: 1,
    settings: {
      ...defaultRuleSettings,
      order: options.order ?? 'adds-first',
      callTimeoutMs: 10_000,
      maxCallTimeoutMs: 100_000,
    },
    readSource: async () => ({ kind: 'unknown', reason: 'not read here' }),
    readSink: async () => [],
    keys: () => ({ source: { kind: 'unknown', reason: 'not read here' }, observed: [], itemOf: () => undefined }),
    contentOf: (item) => `content of ${item}`,
    create: async (item, ctx) => {
      await call(`create ${item}`, ctx);
      return `i-${item}`;
    },
    label: (id, _, ctx) => call(`label ${id}`, ctx),
    destroy: (id, reason, ctx) => call(`destroy ${id} ${reason}`, ctx),
  };
  const memory = cycleMemory({
    load: async () => ({ ledger: emptyLedger, commit: null }),
    save: async () => undefined,
    remove: async () => undefined,
  });
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const deps = {
    clock,
    random: seededRandom(1),
    pool: workerPool({ concurrency: options.concurrency ?? 8 }),
    log,
    newId: () => 'c',
    patienceMs: 1_000,
    wake: () => {
      wakes += 1;
    },
  };
  const ctx = { signal: abort.signal, timeoutMs: 10_000 };
  const play = async (acts: readonly Act[], ms = 5_000) => {
    const performed = perform(
      { id: planId(acts), acts },
      { rule, memory, deps, ctx, itemOf: (id) => items.get(id) ?? id },
    );
    await clock.advance(ms);
    return performed;
  };
  const setItem = (id: string, item: string): void => void items.set(id, item);
  return { clock, calls, contexts, behaviour, memory, abort, play, setItem, wakes: () => wakes };
};

const hang = (): Promise<never> => new Promise(() => {});
const refuse = (): Promise<never> => Promise.reject(new AppError('INSTANCE_FAILED', 'no'));

test('Law 9: adds, then removes; reports are left alone; what was done is said', async () => {
  const { calls, play, memory } = setUp();
  const acts: Act[] = [
    destroy('old'),
    create('new'),
    { kind: 'duplicate', id: 'twin', of: 'x', key: 'x', reduce: true },
    { kind: 'duplicate', id: 'seen', of: 'x', key: 'x', reduce: false },
    { kind: 'label', id: 'named', key: 'named', sourceId: 'named' },
    { kind: 'keep', id: 'x', key: 'x', sourceId: 'x' },
    { kind: 'quarantined', side: 'sink', id: 'bad', reason: 'no key' },
    { kind: 'foreign', id: 'theirs' },
  ];
  const performed = await play(acts);
  expect(calls).toEqual(['create new', 'label named', 'destroy old terminate', 'destroy twin terminate']);
  expect(performed.done.map(nameOf)).toEqual(['create:new', 'label:named', 'destroy:old', 'duplicate:twin']);
  expect(performed).toMatchObject({ deferred: 0, unfinished: 0, notBegun: 0 });
  expect([...memory.creating]).toEqual([['new', { id: 'i-new', untilMs: 30_000 }]]);
  expect([...memory.destroying]).toEqual([
    ['old', 30_000],
    ['twin', 30_000],
  ]);
});

test('Law 9: a replacement is a create and then a destroy, or the other way round', async () => {
  const act: Act = { kind: 'replace', key: 'a', sourceId: 'a', id: 'i-1', content: '2' };
  const first = setUp();
  await first.play([act]);
  expect(first.calls).toEqual(['create a', 'destroy i-1 rolling_update']);
  const second = setUp({ order: 'removes-first' });
  await second.play([act]);
  expect(second.calls).toEqual(['destroy i-1 rolling_update', 'create a']);
});

test('Law 7: a creation carries the key of its owner, source key and content', async () => {
  const { contexts, play } = setUp();
  await play([create('a', 'rendered'), create('b')]);
  expect(contexts.map(({ idempotencyKey: key }) => key)).toEqual([
    idempotencyKey('stack/enrollment/nfs', 'a', 'rendered'),
    idempotencyKey('stack/enrollment/nfs', 'b', 'content of b'),
  ]);
});

test('an entry that is gone already counts as destroyed', async () => {
  const { behaviour, memory, play } = setUp();
  behaviour['destroy a terminate'] = () => Promise.reject(new AppError('INSTANCE_NOT_FOUND', 'no a'));
  expect((await play([destroy('a')])).done).toHaveLength(1);
  expect(memory.errors.size).toBe(0);
});

describe('Law 9: what fails', () => {
  test('backs off by itself while the others go on, and is forgotten when it succeeds', async () => {
    const { calls, behaviour, memory, play } = setUp();
    behaviour['create a'] = refuse;
    const acts = [create('a'), create('b')];
    expect((await play(acts, 500)).done).toEqual([create('b')]);
    expect(memory.errors.get('create:a')).toMatchObject({ code: 'INSTANCE_FAILED' });
    expect(await play([create('a')], 400)).toMatchObject({ done: [], deferred: 1 });
    delete behaviour['create a'];
    await play([], 1_000);
    expect((await play([create('a')])).done).toEqual([create('a')]);
    expect(calls).toEqual(['create a', 'create b', 'create a']);
    expect(memory.errors.size + memory.backoff.size).toBe(0);
  });

  test('is not held against an act that was stopped with its rule', async () => {
    const { behaviour, memory, abort, play } = setUp();
    behaviour['create a'] = hang;
    const performed = play([create('a')]);
    abort.abort();
    expect((await performed).done).toEqual([]);
    expect(memory.errors.size + memory.backoff.size + memory.underWay.size).toBe(0);
  });

  test('waits, but not when the source entry is another one by now: a member whose address comes later is not made to wait', async () => {
    const { behaviour, calls, play, setItem } = setUp();
    behaviour['create a'] = refuse;
    await play([create('a')], 100);
    await play([create('a')], 100);
    expect(calls).toEqual(['create a']);
    setItem('a', 'a with an address');
    await play([create('a')], 100);
    expect(calls).toEqual(['create a', 'create a with an address']);
  });

  test('10,000 of them at once are recorded in one go', async () => {
    const { memory, behaviour, play } = setUp({ concurrency: 1_000 });
    const acts = Array.from({ length: 10_000 }, (_, n) => create(`m${n}`));
    for (const { key } of acts as { key: string }[]) behaviour[`create ${key}`] = refuse;
    const tables = new Set<unknown>();
    const { underWay } = memory;
    const remember = underWay.delete.bind(underWay);
    underWay.delete = (name) => {
      tables.add(memory.backoff);
      return remember(name);
    };
    await play(acts);
    expect(memory.backoff.size).toBe(10_000);
    expect(tables.size).toBe(1);
  });
});

describe('Law 5: what hangs', () => {
  test('is waited for no longer than the patience; it goes on alone, is not begun twice, and tells its end', async () => {
    const { calls, behaviour, memory, play, clock, wakes } = setUp();
    behaviour['create a'] = hang;
    expect(await play([create('a'), create('b'), destroy('c')], 1_000)).toEqual({
      done: [create('b'), destroy('c')],
      failed: 0,
      deferred: 0,
      unfinished: 1,
      notBegun: 0,
    });
    expect(await play([create('a')], 1_000)).toMatchObject({ deferred: 1, unfinished: 0 });
    expect(calls).toEqual(['create a', 'create b', 'destroy c terminate']);
    expect(wakes()).toBe(0);
    await clock.advance(8_000);
    expect(wakes()).toBe(1);
    expect(memory.underWay.size).toBe(0);
    expect(memory.errors.get('create:a')).toMatchObject({ code: 'RPC_TIMEOUT' });
    expect(memory.backoff.get('create:a')).toMatchObject({ failures: 1 });
  });

  test('and tells that it goes on has more time, up to a maximum (Law 10)', async () => {
    const { behaviour, contexts, memory, play, clock, wakes } = setUp();
    behaviour['create a'] = hang;
    await play([create('a')], 1_000);
    const at: number[] = [];
    while (memory.underWay.size > 0) {
      await clock.advance(5_000);
      at.push(clock.now());
      contexts[0]?.progress?.({ message: 'still at it' });
    }
    expect(at.at(-1)).toBe(101_000);
    expect(wakes()).toBe(1);
    expect(memory.errors.get('create:a')).toMatchObject({ code: 'RPC_TIMEOUT', facts: { timeoutMs: 100_000 } });
  });

  test('in the way of others on a full pool: they are left to the next cycle, and so are the removes', async () => {
    const { calls, behaviour, play, clock } = setUp({ concurrency: 1 });
    behaviour['create a'] = hang;
    expect(await play([create('a'), create('b'), destroy('c')], 1_000)).toEqual({
      done: [],
      failed: 0,
      deferred: 0,
      unfinished: 3,
      notBegun: 2,
    });
    await clock.advance(30_000);
    expect(calls).toEqual(['create a']);
  });
});
