import type { Act } from '@infrakit/core';
import { expect, test } from 'vitest';
import { items, known } from './source.ts';
import { type LawWorld, lawWorld } from './world.ts';

const contentOf = (law: LawWorld): string => JSON.stringify([law.world.all(), [...law.storage]]);

const member = (id: string, content: string) => ({ id, content });

/** A world whose next plan has an act of every kind that changes something, but `label`, which Law 4 tests. */
const changing = async (order: 'forward' | 'backward' = 'forward') => {
  const law = lawWorld({ settings: { onChange: 'replace' } });
  await law.enroll([member('keeps', '1'), member('replaced', '1'), member('leaves', '1'), member('twice', '1')]);
  const twin = law.world.all().find(({ Tags }) => Tags?.['infrakit.enrollment.sourceID'] === 'twice');
  await law.world.addForeign(twin?.Tags ?? null);
  await law.world.addForeign({ 'infrakit.enrollment.owner': 'stack/enrollment/other' });
  law.kill();
  const next = [member('keeps', '1'), member('replaced', '2'), member('twice', '1'), member('new', '1')];
  law.setSource(known(order === 'forward' ? next : next.reverse(), { target: 5 }));
  law.faults.describe = { kind: 'error' };
  law.start();
  await law.run(100);
  law.faults.describe = undefined;
  return law;
};

const lineOf = (act: Act): string => `${act.kind} ${'sourceId' in act ? act.sourceId : act.id}`;

test('Law 3: computing a plan changes nothing: not the sink, not the journal, not the next plan', async () => {
  const law = lawWorld();
  await law.enroll(items(10));
  law.setSource(known(items(8).slice(1), { target: 10 }));
  const before = contentOf(law);
  const first = await law.preview();
  const second = await law.preview();
  expect(first.plan.acts.filter(({ kind }) => kind === 'destroy')).toHaveLength(3);
  expect(second.plan).toEqual(first.plan);
  expect(second.admission).toEqual(first.admission);
  expect(contentOf(law)).toBe(before);
  expect(law.writes).toEqual([]);
  expect(await law.memory().ledger.load({ signal: AbortSignal.timeout(1_000), timeoutMs: 1_000 })).toEqual({
    ledger: { unexplained: [], peak: 0 },
    commit: null,
  });
  law.trigger();
  await law.run();
  expect(law.outcomes.find((outcome) => outcome.kind === 'completed')).toMatchObject({ plan: { id: first.plan.id } });
});

test('Law 3: acting does exactly what the plan said', async () => {
  const law = await changing();
  const { plan } = await law.preview();
  expect(plan.acts.map(lineOf).sort()).toEqual([
    'create new',
    'destroy leaves',
    'duplicate i-000005',
    'foreign i-000006',
    'keep keeps',
    'keep twice',
    'replace replaced',
  ]);
  law.trigger();
  await law.run(30_000);
  expect(law.writes.filter((write) => !write.startsWith('journal')).sort()).toEqual([
    'destroy leaves',
    'destroy replaced',
    'destroy twice',
    'provision new',
    'provision replaced',
  ]);
  expect((await law.preview()).plan.acts.every(({ kind }) => kind === 'keep' || kind === 'foreign')).toBe(true);
});

test('Law 3: the id of a plan does not depend on the order of the source, nor on when it is computed', async () => {
  const [forward, backward] = [await changing('forward'), await changing('backward')];
  const { plan } = await forward.preview();
  expect((await backward.preview()).plan).toEqual(plan);
  await forward.clock.advance(50);
  expect((await forward.preview()).plan.id).toBe(plan.id);
});

test.each(['observe', 'create-only', 'upsert-only'] as const)(
  'Law 3: policy %s acts on no more than its plan',
  async (policy) => {
    const law = lawWorld({ settings: { policy, onChange: 'replace' } });
    law.setSource(known([]));
    await law.world.addForeign({ ...ownTags(law, 'leaves'), content: '1' });
    await law.world.addForeign({ ...ownTags(law, 'replaced'), content: '1' });
    law.setSource(known([member('replaced', '2'), member('new', '1')], { target: 3 }));
    law.start();
    await law.run(30_000);
    const expected = {
      observe: [],
      'create-only': ['provision new'],
      'upsert-only': ['destroy replaced', 'provision new', 'provision replaced'],
    };
    expect(law.writes.filter((write) => !write.startsWith('journal')).sort()).toEqual(expected[policy]);
  },
);

const ownTags = (law: LawWorld, id: string): Record<string, string> => ({
  'infrakit.enrollment.owner': law.owner,
  'infrakit.enrollment.name': law.ruleName,
  'infrakit.enrollment.sourceID': id,
});
