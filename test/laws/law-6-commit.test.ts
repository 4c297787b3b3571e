import { describe, expect, test } from 'vitest';
import { items, known } from './source.ts';
import { type LawWorld, lawWorld } from './world.ts';

const held = (law: LawWorld): boolean => {
  const outcome = law.last();
  if (outcome.kind !== 'completed') throw outcome.error;
  return outcome.held !== null;
};

const look = async (law: LawWorld, ms = 6_000): Promise<void> => {
  law.trigger();
  await law.run(ms);
};

describe('Law 6: a commit of the rule', () => {
  const left = items(10).slice(8);

  test('that changes the list explains what it removes, also across a restart in the middle', async () => {
    for (const isRestarted of [false, true]) {
      const law = lawWorld();
      await law.enroll(items(10));
      law.setSource(known(left, { target: 10 }));
      law.faults.destroy = ({ id }) => (id > 'i-000004' ? { kind: 'error' } : undefined);
      await law.commit(2, true);
      await law.run(1_000);
      expect(law.enrolled()).toHaveLength(6);
      if (isRestarted) law.restart(2);
      law.faults.destroy = undefined;
      await law.run(60_000);
      expect(law.enrolled()).toEqual(left.map(({ id }) => id));
      expect(law.last()).toMatchObject({ kind: 'completed', held: null });
    }
  });

  test('explains no later losses: of members it kept, or of entries that were wanted again', async () => {
    const law = lawWorld();
    await law.enroll(items(20));
    law.faults.destroy = { kind: 'error' };
    law.setSource(known(items(20).slice(5), { target: 20 }));
    await law.commit(2, true);
    await law.run(1_000);
    law.setSource(known(items(20)));
    law.faults.destroy = undefined;
    await look(law);
    law.setSource(known(items(20).slice(7), { target: 20 }));
    await look(law, 60_000);
    expect(law.enrolled()).toHaveLength(20);
    expect(held(law)).toBe(true);
  });

  test('that changes only settings explains nothing', async () => {
    const law = lawWorld();
    await law.enroll(items(10));
    law.setSource(known(left, { target: 10 }));
    await law.commit(2, false);
    await law.run(60_000);
    expect(law.enrolled()).toHaveLength(10);
    expect(held(law)).toBe(true);
  });

  test('while the source is unknown, explains what the first look at the source sends away', async () => {
    const law = lawWorld();
    await law.enroll(items(10));
    law.setSource({ kind: 'unknown', reason: 'starting' });
    await law.commit(2, true);
    await law.run(60_000);
    law.restart(2);
    await law.run(60_000);
    law.setSource(known(left, { target: 2 }));
    await look(law);
    expect(law.enrolled()).toEqual(left.map(({ id }) => id));
  });

  test('ends a hold', async () => {
    const law = lawWorld();
    await law.enroll(items(10));
    law.setSource(known(left, { target: 10 }));
    await look(law);
    expect(held(law)).toBe(true);
    await law.commit(2, true);
    await law.run();
    expect(law.enrolled()).toEqual(left.map(({ id }) => id));
  });
});
