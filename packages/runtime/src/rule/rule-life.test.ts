import { NEVER } from 'rxjs';
import { expect, test } from 'vitest';
import { type BudgetRecord, nothing } from '../log/ledger-store.ts';
import { cycleMemory } from '../loop/cycle-memory.ts';
import { virtualClock } from '../work/clock.ts';
import { workerPool } from '../work/worker-pool.ts';
import { defaultRuleSettings } from './rule.ts';
import { ruleLife } from './rule-life.ts';

const hang = (): Promise<never> => new Promise(() => {});
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** A rule whose source has lost nine of ten members, unexplained, over a budget record that a test lets hang. */
const start = async () => {
  const clock = virtualClock();
  const behaviour: { save?: () => Promise<never>; prepare?: () => Promise<never> } = {};
  let record: BudgetRecord = nothing;
  const destroyed: string[] = [];
  const ids = Array.from({ length: 10 }, (_, n) => `m${n}`);
  const memory = cycleMemory({
    load: async () => record,
    save: async (next) => {
      await behaviour.save?.();
      record = next;
    },
    remove: async () => undefined,
  });
  const life = ruleLife<string, string>(
    {
      rule: {
        name: 'lists/a',
        owner: 'stack/lists/a',
        revision: 1,
        settings: {
          ...defaultRuleSettings,
          callTimeoutMs: 1_000,
          maxCallTimeoutMs: 10_000,
          graceMs: 1_000,
        },
        readSource: async () => ({ kind: 'known', items: ['m0'] }),
        readSink: async () => ids.filter((id) => !destroyed.includes(id)),
        keys: (_, observed) => ({
          source: { kind: 'known', entries: [{ id: 'm0', key: { kind: 'known', value: 'm0' } }] },
          observed: observed.map((id) => ({
            id,
            key: { kind: 'known', value: id },
            ownership: { kind: 'ours' },
            sourceId: id,
          })),
          itemOf: (id) => id,
        }),
        contentOf: (id) => id,
        prepare: async () => {
          await behaviour.prepare?.();
        },
        create: async (id) => id,
        label: async () => undefined,
        destroy: async (id) => {
          destroyed.push(id);
        },
      },
      timing: { quietMs: 10, maxWaitMs: 100, syncIntervalMs: 86_400_000 },
      triggers: NEVER,
      sourceHash: '',
      warnings: [],
      onDestroy: 'leave',
    },
    'keep',
    {
      memory,
      deps: {
        clock,
        random: () => 0.5,
        pool: workerPool({ concurrency: 8 }),
        log: silent,
        newId: () => 'c',
        patienceMs: 100,
      },
      seen: () => undefined,
    },
  );
  await clock.advance(50);
  return { clock, behaviour, life, destroyed };
};

const ctx = (timeoutMs: number) => ({ signal: new AbortController().signal, timeoutMs });

/** How a promise ended after some virtual time. */
const after = async <T>(clock: ReturnType<typeof virtualClock>, ms: number, work: Promise<T>) => {
  const ended = work.catch((error: unknown) => error);
  await clock.advance(ms);
  return Promise.race([ended, Promise.resolve('still waiting')]);
};

test('Law 6: an approval lets through exactly what is held', async () => {
  const { clock, life, destroyed } = await start();
  expect(destroyed).toEqual([]);
  await after(clock, 1_000, life.approve(undefined, ctx(5_000)));
  expect(destroyed).toHaveLength(9);
});

test('Law 10: an approval over a store that hangs is late, approves nothing, and stops no later cycle or look', async () => {
  const { clock, life, behaviour, destroyed } = await start();
  behaviour.save = hang;
  expect(await after(clock, 1_000, life.approve(undefined, ctx(5_000)))).toMatchObject({ code: 'RPC_TIMEOUT' });
  delete behaviour.save;
  expect(await after(clock, 1_000, life.preview(ctx(5_000)))).toMatchObject({ plan: expect.anything() });
  expect(destroyed).toEqual([]);
});

test('Law 10: a look or an approval that waits for a cycle ends with its caller’s patience, and does not come later', async () => {
  const { clock, life, behaviour, destroyed } = await start();
  behaviour.prepare = hang;
  life.nudge();
  await clock.advance(50);
  const looked = life.preview(ctx(300)).catch((error: unknown) => error);
  expect(await after(clock, 300, life.approve(undefined, ctx(200)))).toMatchObject({ code: 'RPC_TIMEOUT' });
  expect(await looked).toMatchObject({ code: 'RPC_TIMEOUT' });
  delete behaviour.prepare;
  await clock.advance(10_000);
  life.nudge();
  await clock.advance(10_000);
  expect(destroyed).toEqual([]);
});
