import { describe, expect, test } from 'vitest';
import { departed, items, known } from './source.ts';
import { type LawWorld, lawWorld, type WorldOptions } from './world.ts';

type Moment = 'before the call' | 'after the call, its answer lost';

const before = items(10).map((item) => ({ ...item, content: '1' }));

/** Two vanished, one left by scaling, three are new, one has other content. */
const after = [
  ...before.slice(3, 9),
  { id: 'h00010', content: '2' },
  ...items(3, 'n').map((item) => ({ ...item, content: '1' })),
];

const wanted = after.map(({ id, content }) => `${id} ${content}`).sort();

const there = (law: LawWorld): string[] =>
  law.world
    .all()
    .map(({ Tags }) => `${Tags?.['infrakit.enrollment.sourceID']} ${Tags?.content}`)
    .sort();

/** Changes the world and crashes at each `every`-th call to the sink or the journal, `most` times. */
const crashing = async (every: number, most: number, moment: Moment, options: WorldOptions = {}) => {
  let calls = Number.NEGATIVE_INFINITY;
  let crashes = 0;
  const law: LawWorld = lawWorld({
    settings: { onChange: 'replace' },
    ...options,
    around: async (_, act) => {
      calls += 1;
      if (calls < every || crashes >= most) return act();
      calls = 0;
      crashes += 1;
      if (moment === 'before the call') {
        law.kill();
        return new Promise<never>(() => {});
      }
      await act();
      law.kill();
      return new Promise<never>(() => {});
    },
  });
  await law.enroll(before);
  law.setSource(known(after, { target: 12, departures: departed(['h00001']) }));
  calls = 0;
  law.trigger();
  for (let n = 0; n < 30; n += 1) {
    await law.run(2_000);
    if (!law.isAlive()) law.start();
  }
  calls = Number.NEGATIVE_INFINITY;
  law.restart();
  await law.run(120_000);
  return { law, crashes };
};

const expectDone = async (law: LawWorld): Promise<void> => {
  expect(there(law)).toEqual(wanted);
  expect(law.last()).toMatchObject({ kind: 'completed', held: null, failures: [] });
  const { ledger } = await law.ledger().load({ signal: AbortSignal.timeout(1_000), timeoutMs: 1_000 });
  expect(ledger.unexplained.map(({ id }) => id).sort()).toEqual(['i-000002', 'i-000003']);
};

describe.each(['before the call', 'after the call, its answer lost'] as const)('Law 11: killed %s', (moment) => {
  test('at any one of the calls of a change: the same end state, each made once, each loss counted once', async () => {
    let crashed = true;
    let points = 0;
    for (let at = 1; crashed; at += 1) {
      const { law, crashes } = await crashing(at, 1, moment);
      await expectDone(law);
      expect(law.world.made()).toBe(14);
      crashed = crashes > 0;
      points = at;
      expect(at).toBeLessThan(200);
    }
    expect(points).toBeGreaterThan(15);
  });

  test('again and again', async () => {
    for (const every of [2, 3, 5, 7, 11]) {
      const { law, crashes } = await crashing(every, 8, moment);
      await expectDone(law);
      expect(law.world.made()).toBe(14);
      expect(crashes).toBeGreaterThan(1);
    }
  });

  test('where keys are not honoured: the same end state', async () => {
    for (const every of [1, 3, 5, 7, 9, 11, 13, 15]) {
      const { law } = await crashing(every, 3, moment, { hasKeys: false });
      await expectDone(law);
    }
  });

  test('removes first: the same end state', async () => {
    for (const every of [1, 3, 5, 7, 9, 11, 13, 15]) {
      const { law } = await crashing(every, 3, moment, { settings: { onChange: 'replace', order: 'removes-first' } });
      await expectDone(law);
    }
  });

  test('crashes do not stretch the budget', async () => {
    for (const every of [2, 3, 5]) {
      const { law } = await crashing(every, 8, moment);
      law.setSource(known(after.slice(3), { target: 12 }));
      law.restart();
      await law.run(60_000);
      expect(there(law)).toEqual(wanted);
      expect(law.last()).toMatchObject({ held: { destroys: Array(3).fill(expect.anything()) } });
    }
  });
});

test('Law 11: a store that lost its records: the loop starts by itself and converges to what still holds', async () => {
  const law = lawWorld();
  await law.enroll(items(10));
  law.setSource(known(items(10).slice(2), { target: 10 }));
  law.trigger();
  await law.run();
  law.kill();
  law.storage.clear();
  law.start();
  await law.run(60_000);
  expect(law.enrolled()).toHaveLength(8);
  expect(law.last()).toMatchObject({ kind: 'completed', held: null });
});
