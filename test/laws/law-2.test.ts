import { describe, expect, test } from 'vitest';
import { items, known } from './source.ts';
import { lawWorld } from './world.ts';

describe('Law 2: a known-empty source empties the sink', () => {
  test.each([
    ['target 0', known([], { target: 0 })],
    ['phase destroyed', known([], { target: 0, phase: 'destroyed' })],
    ['phase destroyed, whatever the target is', known([], { target: 10, phase: 'destroyed' })],
  ])('%s: without a restart, whatever the budget', async (_, source) => {
    const law = lawWorld({ settings: { maxDestroyPercent: 0, maxDestroyFloor: 0 } });
    await law.enroll(items(100));
    expect(law.enrolled()).toHaveLength(100);
    law.setSource(source);
    law.trigger();
    await law.run();
    expect(law.enrolled()).toEqual([]);
    expect(law.last()).toMatchObject({ kind: 'completed', held: null });
  });

  test('what it explains is written to no ledger', async () => {
    const law = lawWorld();
    await law.enroll(items(10));
    law.setSource(known([], { target: 0 }));
    law.trigger();
    await law.run();
    expect(law.writes.filter((write) => write.startsWith('journal'))).toEqual([]);
  });

  test('a freed group is unknown: everything stays, and a later known-empty still empties', async () => {
    const law = lawWorld();
    await law.enroll(items(10));
    law.setSource({ kind: 'unknown', reason: 'freed' });
    law.trigger();
    await law.run(600_000);
    expect(law.enrolled()).toHaveLength(10);
    law.setSource(known([], { target: 0, phase: 'destroyed' }));
    law.trigger();
    await law.run();
    expect(law.enrolled()).toEqual([]);
  });

  test('entries of others survive the emptying', async () => {
    const law = lawWorld();
    await law.world.addForeign({ 'infrakit.enrollment.owner': 'stack/enrollment/other' });
    await law.world.addForeign(null);
    await law.enroll(items(3));
    law.setSource(known([], { target: 0 }));
    law.trigger();
    await law.run();
    expect(law.world.all()).toHaveLength(2);
  });
});
