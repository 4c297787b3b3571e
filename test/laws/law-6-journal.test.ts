import { describe, expect, test } from 'vitest';
import { departed, items, known } from './source.ts';
import { type LawWorld, lawWorld } from './world.ts';

const held = (law: LawWorld): boolean => {
  const outcome = law.last();
  if (outcome.kind !== 'completed') throw outcome.error;
  return outcome.held !== null;
};

describe('Law 6: a journal that does not work', () => {
  test.each([
    ['read', 'error'],
    ['read', 'hang'],
    ['write', 'error'],
    ['write', 'hang'],
  ] as const)('%s: %s: nothing unexplained is destroyed, the rest goes on', async (call, fault) => {
    const law = lawWorld();
    await law.enroll(items(10));
    law.journalFaults[call] = fault;
    law.setSource(known([...items(10).slice(2), { id: 'new' }], { target: 11, departures: departed(['h00001']) }));
    law.restart();
    await law.run(60_000);
    expect(law.enrolled()).toEqual([
      ...items(10)
        .slice(1)
        .map(({ id }) => id),
      'new',
    ]);
    expect(held(law)).toBe(true);
    law.journalFaults[call] = undefined;
    await law.run(60_000);
    expect(law.enrolled()).not.toContain('h00002');
    expect(held(law)).toBe(false);
  });

  test('a record that cannot be understood counts as unreadable', async () => {
    const law = lawWorld();
    await law.enroll(items(10));
    law.kill();
    law.storage.set('enrollment/budget/enrollment/nfs', '{"ledger":[]}');
    law.setSource(known(items(10).slice(1), { target: 10 }));
    law.start();
    await law.run(60_000);
    expect(law.enrolled()).toHaveLength(10);
    expect(held(law)).toBe(true);
  });
});
