import { describe, expect, test } from 'vitest';
import { departed, items, known } from './source.ts';
import { type LawWorld, lawWorld } from './world.ts';

const hourMs = 3_600_000;

const slow = { timing: { syncIntervalMs: 6 * hourMs } };

const held = (law: LawWorld): boolean => {
  const outcome = law.last();
  if (outcome.kind !== 'completed') throw outcome.error;
  return outcome.held !== null;
};

const look = async (law: LawWorld, ms = 6_000): Promise<void> => {
  law.trigger();
  await law.run(ms);
};

describe('Law 6: unexplained destroys are bounded', () => {
  test.each([
    ['a group that wants 100', true, false],
    ['a list without a target', false, false],
    ['a group that wants 100, with a restart at every step', true, true],
    ['a list without a target, with a restart at every step', false, true],
  ])('a slow drain in small steps over hours is stopped: %s', async (_, hasTarget, isRestarted) => {
    const law = lawWorld(slow);
    await law.enroll(items(100));
    for (let gone = 1; gone <= 60; gone += 1) {
      const left = items(100).slice(gone);
      law.setSource(hasTarget ? known(left, { target: 100 }) : { kind: 'known', items: left });
      if (isRestarted) law.restart();
      await look(law, hourMs / 2);
    }
    expect(law.enrolled()).toHaveLength(70);
    expect(held(law)).toBe(true);
  });

  test.each([
    [3, 10],
    [30, 100],
  ])('%d of %d go, one more does not, and then none of them goes', async (most, size) => {
    for (const [gone, left] of [
      [most, size - most],
      [most + 1, size],
    ] as const) {
      const law = lawWorld();
      await law.enroll(items(size));
      law.setSource(known(items(size).slice(gone), { target: size }));
      await look(law);
      expect(law.enrolled()).toHaveLength(left);
    }
  });

  test('a healthy group whose machines die and are replaced one by one for a year is never held', async () => {
    const law = lawWorld(slow);
    let members = items(10);
    await law.enroll(members);
    for (let day = 1; day <= 365; day += 1) {
      members = members.slice(1);
      law.setSource(known(members, { target: 10 }));
      await look(law, 12 * hourMs);
      expect(held(law)).toBe(false);
      members = [...members, { id: `new${String(day).padStart(3, '0')}` }];
      law.setSource(known(members, { target: 10 }));
      await look(law, 12 * hourMs);
    }
    expect(law.enrolled()).toEqual(members.map(({ id }) => id));
    expect(law.outcomes.every((outcome) => outcome.kind === 'completed' && outcome.held === null)).toBe(true);
  });

  test.each([1, 2, 3])('the last entry of %d is never taken unexplained', async (size) => {
    const law = lawWorld();
    await law.enroll(items(size));
    law.setSource(known([], { target: size }));
    await look(law, hourMs);
    expect(law.enrolled()).toHaveLength(size);
    expect(held(law)).toBe(true);
  });

  test.each(['scale', 'update', 'destroy', 'request'] as const)(
    'departures by %s are explained, all of them',
    async (cause) => {
      const law = lawWorld();
      await law.enroll(items(10));
      law.setSource(
        known([], {
          target: 10,
          departures: departed(
            items(10).map(({ id }) => id),
            cause,
          ),
        }),
      );
      await look(law);
      expect(law.enrolled()).toEqual([]);
      expect(law.storage.size).toBe(0);
    },
  );

  test('those that vanished are not explained by having left', async () => {
    const law = lawWorld();
    await law.enroll(items(10));
    const gone = items(5).map(({ id }) => id);
    law.setSource(known(items(10).slice(5), { target: 10, departures: departed(gone, 'vanished') }));
    await look(law);
    expect(law.enrolled()).toHaveLength(10);
    expect(held(law)).toBe(true);
  });

  test('explained ones pass while unexplained ones are held', async () => {
    const law = lawWorld();
    await law.enroll(items(20));
    law.setSource(known(items(20).slice(15), { target: 10, departures: departed(items(5).map(({ id }) => id)) }));
    await look(law);
    expect(law.enrolled()).toEqual(
      items(20)
        .slice(5)
        .map(({ id }) => id),
    );
    expect(held(law)).toBe(true);
  });
});
