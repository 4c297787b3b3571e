import { describe, expect, test } from 'vitest';
import { items, known } from './source.ts';
import { type LawWorld, lawWorld } from './world.ts';

const hourMs = 3_600_000;

const held = (law: LawWorld): boolean => {
  const outcome = law.last();
  if (outcome.kind !== 'completed') throw outcome.error;
  return outcome.held !== null;
};

const look = async (law: LawWorld, ms = 6_000): Promise<void> => {
  law.trigger();
  await law.run(ms);
};

describe('Law 6: a hold', () => {
  const holding = async () => {
    const law = lawWorld();
    await law.enroll(items(10));
    law.setSource(known(items(10).slice(5), { target: 10 }));
    await look(law);
    expect(held(law)).toBe(true);
    return law;
  };
  const planOf = (law: LawWorld): string => {
    const outcome = law.last();
    if (outcome.kind !== 'completed' || outcome.held === null) throw new Error('nothing is held');
    return outcome.held.planId;
  };

  test('survives restarts, and does not melt away in a day', async () => {
    const law = await holding();
    for (let restart = 0; restart < 4; restart += 1) {
      law.restart();
      await law.run(60_000);
    }
    law.kill();
    await law.clock.advance(24 * hourMs);
    law.start();
    await law.run(60_000);
    expect(law.enrolled()).toHaveLength(10);
    expect(held(law)).toBe(true);
  });

  test('ends when the members return', async () => {
    const law = await holding();
    law.setSource(known(items(10)));
    await look(law);
    expect(held(law)).toBe(false);
    law.setSource(known(items(10).slice(1), { target: 10 }));
    await look(law);
    expect(law.enrolled()).toHaveLength(9);
  });

  test('approve lets exactly the plan shown through, once', async () => {
    const law = await holding();
    await law.approve(planOf(law));
    await law.run();
    expect(law.enrolled()).toEqual(
      items(10)
        .slice(5)
        .map(({ id }) => id),
    );
    law.setSource(known([{ id: 'h00006' }], { target: 10 }));
    await look(law);
    expect(law.enrolled()).toHaveLength(5);
    expect(held(law)).toBe(true);
  });

  test('an approval of a stale plan is refused, and one that became stale lets nothing through', async () => {
    const law = await holding();
    const first = planOf(law);
    await law.approve(first);
    law.setSource(known(items(10).slice(6), { target: 10 }));
    await look(law);
    expect(law.enrolled()).toHaveLength(10);
    await expect(law.approve(first)).rejects.toMatchObject({ code: 'PLAN_STALE' });
    await law.approve();
    await law.run();
    expect(law.enrolled()).toEqual(
      items(10)
        .slice(6)
        .map(({ id }) => id),
    );
  });

  test('an approval survives a crash before it is acted on', async () => {
    const law = await holding();
    await law.approve(planOf(law));
    law.restart();
    await law.run();
    expect(law.enrolled()).toHaveLength(5);
  });

  test('nothing to approve is refused', async () => {
    const law = lawWorld();
    await law.enroll(items(3));
    await expect(law.approve()).rejects.toMatchObject({ code: 'PLAN_STALE' });
  });

  test('a destroy that failed and is then held does not make the loop spin', async () => {
    const law = lawWorld();
    await law.enroll(items(10));
    law.faults.destroy = { kind: 'error' };
    law.setSource(known(items(10).slice(1), { target: 10 }));
    await look(law, 500);
    law.setSource(known(items(10).slice(6), { target: 10 }));
    await look(law, hourMs / 6);
    expect(held(law)).toBe(true);
    expect(law.outcomes.length).toBeLessThan(200);
  });
});
