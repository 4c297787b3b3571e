import { describe, expect, test } from 'vitest';
import { type Item, items, known } from './source.ts';
import { type LawWorld, lawWorld } from './world.ts';

const bad: Item = { id: 'bad', key: null };

const quarantined = (law: LawWorld): string[] => {
  const outcome = law.last();
  if (outcome.kind !== 'completed') throw outcome.error;
  return outcome.plan.acts.flatMap((act) =>
    act.kind === 'quarantined' ? [`${act.side} ${act.id}: ${act.reason}`] : [],
  );
};

const setOwned = (law: LawWorld, tags: Record<string, string>): Promise<string> =>
  law.world.addForeign({ 'infrakit.enrollment.owner': law.owner, ...tags });

describe('Law 5: one bad member never blocks the others', () => {
  test('a source entry without a key is quarantined by name; the others are created, changed and destroyed', async () => {
    const law = lawWorld();
    await law.enroll([...items(10), bad]);
    expect(law.enrolled()).toHaveLength(10);
    law.trigger();
    await law.run();
    expect(quarantined(law)).toEqual(['source bad: no key for bad']);
    law.setSource(known([...items(11).slice(1), bad], { target: 12 }));
    law.trigger();
    await law.run();
    expect(law.enrolled()).toEqual(
      items(11)
        .slice(1)
        .map(({ id }) => id),
    );
  });

  test('a member that had a key and lost it keeps its entry', async () => {
    const law = lawWorld();
    await law.enroll([...items(10), { id: 'bad' }]);
    law.setSource(known([...items(10), bad]));
    law.trigger();
    await law.run(60_000);
    expect(law.enrolled()).toContain('bad');
    expect(law.writes).toEqual([]);
  });

  test('while a source key is unknown, an owned entry without sourceID is not destroyed; after that it is', async () => {
    const law = lawWorld();
    await law.enroll(items(10));
    const id = await setOwned(law, { key: 'somebody' });
    law.setSource(known([...items(10), bad]));
    law.trigger();
    await law.run(60_000);
    expect(law.world.find(id)).toBeDefined();
    law.setSource(known([...items(10), { id: 'bad', key: 'other' }]));
    law.trigger();
    await law.run(60_000);
    expect(law.world.find(id)).toBeUndefined();
  });

  test('while the key of an owned entry is unknown, only the member that its sourceID names is not created', async () => {
    const law = lawWorld();
    const id = await setOwned(law, { key: '', 'infrakit.enrollment.sourceID': 'h00003' });
    law.setSource(known(items(5)));
    law.start();
    await law.run();
    expect(law.writes.filter((write) => write.startsWith('provision')).sort()).toEqual(
      ['h00001', 'h00002', 'h00004', 'h00005'].map((one) => `provision ${one}`),
    );
    expect(quarantined(law)).toEqual([
      `source h00003: not created while the key of the existing "${id}" is unknown`,
      `sink ${id}: empty key`,
    ]);
  });

  test('one that names nobody withholds creation of the unmatched, and nothing else', async () => {
    const law = lawWorld();
    await law.enroll(items(3));
    const id = await setOwned(law, { key: '' });
    law.setSource(known(items(4).slice(1), { target: 4 }));
    law.trigger();
    await law.run();
    expect(law.enrolled()).toEqual(['', 'h00002', 'h00003']);
    await law.world.removeBehind(id);
    law.trigger();
    await law.run();
    expect(law.enrolled()).toEqual(['h00002', 'h00003', 'h00004']);
  });

  test('unknown keys on both sides at once block neither the creation nor the removal of others', async () => {
    const law = lawWorld();
    await law.enroll(items(10));
    await setOwned(law, { key: '', 'infrakit.enrollment.sourceID': 'worse' });
    law.setSource(known([...items(11).slice(1), bad], { target: 12 }));
    law.trigger();
    await law.run();
    expect(law.enrolled()).toEqual([
      ...items(11)
        .slice(1)
        .map(({ id }) => id),
      'worse',
    ]);
  });
});

describe('Law 5: one bad member in 1,000 does not delay 999', () => {
  const many = items(1_000);
  const isBad = (params: { readonly spec: { readonly Properties: unknown } }): boolean =>
    (params.spec.Properties as { host: string }).host === 'h00500';

  test.each(['timeout', 'error', 'undecodable', 'lose-answer'] as const)('its creation: %s', async (kind) => {
    const law = lawWorld({ concurrency: 16 });
    law.faults.provision = (params) => (isBad(params) ? { kind } : undefined);
    law.setSource(known(many));
    law.start();
    await law.run(900);
    expect(law.enrolled().length).toBeGreaterThanOrEqual(999);

    law.setSource(known([...many, { id: 'late' }], { target: 1_001 }));
    law.trigger();
    await law.run(2_200);
    expect(law.enrolled()).toContain('late');

    law.setSource(known([...many.slice(0, -1), { id: 'late' }], { target: 1_001 }));
    law.trigger();
    await law.run(2_200);
    expect(law.enrolled()).not.toContain('h01000');

    law.faults.provision = undefined;
    await law.run(300_000);
    expect(law.enrolled()).toHaveLength(1_000);
    expect(law.last()).toMatchObject({ kind: 'completed', held: null, failures: [] });
  });

  test('its destruction hangs for ever: the others go, and new ones come', async () => {
    const law = lawWorld({ concurrency: 16 });
    await law.enroll(many);
    const stuck = law.world.all()[499]?.ID;
    law.faults.destroy = ({ id }) => (id === stuck ? { kind: 'timeout' } : undefined);
    law.setSource(known([...many.slice(0, 400), ...many.slice(600), { id: 'late' }]));
    law.trigger();
    await law.run(1_500);
    expect(law.enrolled()).toHaveLength(802);
    law.setSource(known([...many.slice(0, 400), ...many.slice(601), { id: 'late' }, { id: 'later' }]));
    law.trigger();
    await law.run(2_500);
    expect(law.enrolled()).toContain('later');
    expect(law.enrolled()).not.toContain('h00601');
    law.faults.destroy = undefined;
    await law.run(300_000);
    expect(law.enrolled()).toHaveLength(801);
  });

  test('an act that hangs when it is tried again does not make the loop spin', async () => {
    const law = lawWorld();
    law.faults.provision = (params) => (isBad(params) ? { kind: 'timeout' } : undefined);
    law.setSource(known(many));
    law.start();
    await law.run(600_000);
    expect(law.outcomes.length).toBeLessThan(300);
    expect(law.enrolled()).toHaveLength(999);
  });
});
