import { describe, expect, test } from 'vitest';
import { items, known } from './source.ts';
import { type LawWorld, lawWorld } from './world.ts';

const legacy = (id: string, name = 'nfs'): Record<string, string> => ({
  'infrakit.enrollment.name': name,
  'infrakit.enrollment.sourceID': id,
});

const touched = (law: LawWorld): string[] => law.writes.filter((write) => !write.startsWith('journal'));

const acts = (law: LawWorld): string[] => {
  const outcome = law.last();
  return outcome.kind === 'completed' ? outcome.plan.acts.map(({ kind }) => kind).sort() : [outcome.at];
};

describe('Law 4: we touch only what is ours', () => {
  test('foreign entries are reported, never touched, and block nobody, whatever their key is', async () => {
    const law = lawWorld();
    const others = [
      { 'infrakit.enrollment.owner': 'stack/enrollment/other', 'infrakit.enrollment.sourceID': 'h00001' },
      { 'infrakit.enrollment.owner': 'otherstack/enrollment/nfs', 'infrakit.enrollment.sourceID': 'h00002' },
      { 'infrakit.enrollment.owner': 'stack/enrollment/other', key: '' },
      legacy('h00003', 'other'),
      null,
      { hand: 'made' },
    ];
    for (const tags of others) await law.world.addForeign(tags);
    const before = law.world.all();
    await law.enroll(items(3));
    expect(law.enrolled()).toEqual(['h00001', 'h00002', 'h00003']);
    await law.run();
    expect(acts(law).filter((kind) => kind === 'foreign')).toHaveLength(6);
    law.setSource(known([], { target: 0 }));
    law.trigger();
    await law.run();
    expect(law.world.all()).toEqual(before);
  });

  test('an owner label decides over an old name label that says the opposite', async () => {
    const law = lawWorld();
    await law.world.addForeign({ ...legacy('h00001'), 'infrakit.enrollment.owner': 'stack/enrollment/other' });
    await law.enroll([]);
    law.setSource(known([], { target: 0 }));
    law.trigger();
    await law.run();
    expect(touched(law)).toEqual([]);
    expect(law.world.all()).toHaveLength(1);
  });

  test('two rules keep one sink side by side', async () => {
    const one = lawWorld({ ruleName: 'one' });
    const two = lawWorld({ ruleName: 'two', world: one.world });
    await one.enroll(items(4));
    await two.enroll(items(6));
    expect(one.enrolled()).toHaveLength(4);
    expect(two.enrolled()).toHaveLength(6);
    one.setSource(known([], { target: 0 }));
    one.trigger();
    await one.run();
    two.trigger();
    await two.run();
    expect(one.enrolled()).toEqual([]);
    expect(two.enrolled()).toHaveLength(6);
    expect(touched(two)).toEqual([]);
  });

  test('an old name label is judged only when all stored specs are back; then it is relabelled, once', async () => {
    const law = lawWorld({ storedSpecsBack: false });
    await law.world.addForeign(legacy('h00001'));
    await law.world.addForeign(legacy('gone'));
    law.setSource(known(items(1), { target: 2 }));
    law.start();
    await law.run(60_000);
    expect(touched(law)).toEqual([]);
    expect(acts(law)).toEqual(['keep', 'quarantined']);

    law.setStoredSpecsBack(true);
    law.trigger();
    await law.run(60_000);
    expect(touched(law)).toEqual(['label i-000001', 'destroy gone']);
    expect(law.enrolled()).toEqual(['h00001']);
    expect(acts(law)).toEqual(['keep']);
  });

  test('a look that rested while the specs were away does not outlive their return', async () => {
    const law = lawWorld({ storedSpecsBack: false });
    await law.world.addForeign(legacy('h00001'));
    law.setSource(known(items(1)));
    law.start();
    await law.run(60_000);
    law.setStoredSpecsBack(true);
    await law.run(12_000);
    expect(touched(law)).toEqual(['label i-000001']);
  });

  test('an untagged entry with a key counts as enrolled, and is left when its member goes', async () => {
    const law = lawWorld();
    await law.world.addForeign({ key: 'h00001' });
    await law.enroll(items(1));
    expect(law.world.all()).toHaveLength(1);
    law.setSource(known([], { target: 0 }));
    law.trigger();
    await law.run();
    expect(law.world.all()).toHaveLength(1);
    expect(acts(law)).toEqual(['foreign']);
  });

  test('with AllowUntaggedDestroy it goes', async () => {
    const law = lawWorld({ allowUntaggedDestroy: true });
    await law.world.addForeign({ key: 'h00001' });
    await law.world.addForeign(null);
    await law.enroll(items(1));
    law.setSource(known([], { target: 0 }));
    law.trigger();
    await law.run();
    expect(law.world.all().map(({ ID }) => ID)).toEqual(['i-000002']);
  });
});
