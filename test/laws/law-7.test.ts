import { type Fault, firstCalls } from '@infrakit/spi';
import { describe, expect, test } from 'vitest';
import { items, known } from './source.ts';
import { type LawWorld, lawWorld } from './world.ts';

const idsOf = (count: number): string[] => items(count).map(({ id }) => id);

const faults: readonly (readonly [string, Fault])[] = [
  ['answers are lost', { kind: 'lose-answer' }],
  ['answers come after the deadline', { kind: 'late', ms: 15_000 }],
  ['answers come after the cycle has ended, in time', { kind: 'late', ms: 5_000 }],
  ['answers cannot be decoded', { kind: 'undecodable' }],
];

describe('Law 7: where the sink honours keys, each entry is made once', () => {
  test.each(faults)('%s', async (_, fault) => {
    const law = lawWorld();
    law.faults.provision = fault;
    law.setSource(known(items(10)));
    law.start();
    for (let step = 0; step < 10; step += 1) {
      law.trigger();
      await law.run(3_000);
    }
    law.faults.provision = undefined;
    await law.run(600_000);
    expect(law.enrolled()).toEqual(idsOf(10));
    expect(law.world.made()).toBe(10);
  });

  test.each(faults)('%s, and the sink shows what is new only after five describes', async (_, fault) => {
    const law = lawWorld();
    law.faults.describe = { kind: 'delay-visibility', describes: 5 };
    law.faults.provision = firstCalls(15, fault);
    law.setSource(known(items(10)));
    law.start();
    await law.run(600_000);
    expect(law.enrolled()).toEqual(idsOf(10));
    expect(law.world.made()).toBe(10);
  });

  test('a crash between the making and its answer', async () => {
    let isCrashing = true;
    const law: LawWorld = lawWorld({
      around: async (call, act) => {
        const answer = await act();
        if (!isCrashing || call !== 'provision h00005') return answer;
        isCrashing = false;
        law.kill();
        return new Promise<never>(() => {});
      },
    });
    law.setSource(known(items(10)));
    law.start();
    await law.run();
    expect(isCrashing).toBe(false);
    law.faults.describe = { kind: 'delay-visibility', describes: 2 };
    law.start();
    await law.run(60_000);
    expect(law.enrolled()).toEqual(idsOf(10));
    expect(law.world.made()).toBe(10);
  });

  test('the key of a destroyed entry makes a new one', async () => {
    const law = lawWorld();
    await law.enroll(items(2));
    const [first] = law.world.all();
    law.setSource(known(items(2).slice(1), { target: 2 }));
    law.trigger();
    await law.run();
    expect(law.enrolled()).toEqual(['h00002']);
    law.setSource(known(items(2)));
    law.trigger();
    await law.run();
    expect(law.enrolled()).toEqual(idsOf(2));
    expect(law.world.find(first?.ID ?? '')).toBeUndefined();
    expect(law.world.made()).toBe(3);
  });
});

describe('Law 7: where the sink does not, duplicates are reduced to one', () => {
  test.each(faults)('%s, and the sink shows what is new only after five describes', async (_, fault) => {
    const law = lawWorld({ hasKeys: false });
    law.faults.describe = { kind: 'delay-visibility', describes: 5 };
    law.faults.provision = firstCalls(15, fault);
    law.setSource(known(items(10)));
    law.start();
    await law.run(600_000);
    expect(law.enrolled()).toEqual(idsOf(10));
    expect(law.last()).toMatchObject({ kind: 'completed', held: null, failures: [] });
  });

  test('only those whose owner label is exactly ours; the others are reported', async () => {
    const law = lawWorld();
    await law.enroll(items(1));
    const labels = [
      { 'infrakit.enrollment.owner': law.owner },
      { 'infrakit.enrollment.owner': `${law.owner}2` },
      { 'infrakit.enrollment.owner': 'stack/enrollment/other' },
      { 'infrakit.enrollment.name': law.ruleName },
      { key: 'h00001' },
    ];
    for (const tags of labels) await law.world.addForeign({ 'infrakit.enrollment.sourceID': 'h00001', ...tags });
    law.trigger();
    await law.run(60_000);
    expect(law.enrolled()).toEqual(['h00001']);
    expect(law.world.all().map(({ ID }) => ID)).toEqual([
      'i-000001',
      ...['3', '4', '5', '6'].map((n) => `i-00000${n}`),
    ]);
    expect(law.writes).toEqual(['destroy h00001']);
  });

  test('three of one member: one stays, without a hold, also when it is the only member', async () => {
    const law = lawWorld();
    await law.enroll(items(1));
    const tags = law.world.all()[0]?.Tags ?? null;
    for (let twin = 0; twin < 4; twin += 1) await law.world.addForeign(tags);
    law.trigger();
    await law.run(60_000);
    expect(law.enrolled()).toEqual(['h00001']);
    expect(law.last()).toMatchObject({ kind: 'completed', held: null });
  });

  test('a source that is not known as a whole reduces nothing', async () => {
    const law = lawWorld();
    await law.enroll(items(1));
    await law.world.addForeign(law.world.all()[0]?.Tags ?? null);
    law.setSource({ kind: 'partial', reason: 'torn', items: items(1) });
    law.trigger();
    await law.run(60_000);
    expect(law.enrolled()).toHaveLength(2);
  });
});
