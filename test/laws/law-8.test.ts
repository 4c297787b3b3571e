import type { Source } from '@infrakit/runtime';
import { describe, expect, test } from 'vitest';
import { type Item, items, known } from './source.ts';
import { type LawWorld, lawWorld } from './world.ts';

const never = { timing: { syncIntervalMs: 86_400_000 } };

/** A source that takes `ms` to say what `now` says when it is asked. */
const slow = (law: LawWorld, ms: number, now: () => Source<Item>) => (): Promise<Source<Item>> => {
  const reading = now();
  return new Promise((resolve) => {
    law.clock.after(ms, () => resolve(reading));
  });
};

describe('Law 8: a change during a cycle is never lost', () => {
  test('triggers during a cycle make exactly one further cycle, which sees the change', async () => {
    const law = lawWorld(never);
    await law.enroll(items(1));
    let wanted = items(2);
    law.setSource(slow(law, 1_500, () => known(wanted)));
    law.trigger();
    await law.run(200);
    wanted = items(3);
    for (let n = 0; n < 50; n += 1) {
      law.trigger();
      await law.run(1);
    }
    await law.run(60_000);
    expect(law.enrolled()).toHaveLength(3);
    const created = law.outcomes.flatMap((cycle) => (cycle.kind === 'completed' ? [cycle.counts.created] : []));
    // The last one confirms what the further one did, and does nothing.
    expect(created.slice(0, 4)).toEqual([1, 1, 0]);
  });

  test('a change in the very moment of the reading, told by the reading itself, is seen', async () => {
    const law = lawWorld(never);
    let reads = 0;
    law.setSource(async () => {
      reads += 1;
      if (reads === 1) law.trigger();
      return known(items(reads === 1 ? 1 : 2));
    });
    law.start();
    await law.run(2_000);
    expect(law.enrolled()).toHaveLength(2);
  });

  test('the loop looks again when an act that outlived its cycle ends', async () => {
    const law = lawWorld(never);
    law.faults.provision = { kind: 'late', ms: 5_000 };
    law.setSource(known(items(1)));
    law.start();
    await law.run(2_000);
    law.setSource(known(items(1).slice(1), { target: 0 }));
    law.faults.provision = undefined;
    law.trigger();
    await law.run(10_000);
    expect(law.enrolled()).toEqual([]);
  });

  test('a cycle that failed is tried again by itself, without a trigger and long before the next resync', async () => {
    const law = lawWorld(never);
    await law.enroll(items(1));
    law.faults.describe = { kind: 'error' };
    law.setSource(known(items(2)));
    law.trigger();
    await law.run(3_000);
    law.faults.describe = undefined;
    await law.run(10_000);
    expect(law.enrolled()).toHaveLength(2);
  });

  test('a source that cannot be read is read again by itself, less and less often, long before the next resync', async () => {
    const law = lawWorld(never);
    await law.enroll(items(1));
    law.setSource(() => Promise.reject(new Error('no group answers')));
    law.trigger();
    await law.run(60_000);
    expect(law.last()).toMatchObject({ kind: 'completed', source: { kind: 'unknown', reason: 'no group answers' } });
    expect(law.outcomes.length).toBeGreaterThanOrEqual(4);
    expect(law.outcomes.length).toBeLessThan(20);
    law.setSource(known(items(2)));
    await law.run(120_000);
    expect(law.enrolled()).toHaveLength(2);
  });

  test('a source that says that it does not know is not asked again before something happens', async () => {
    const law = lawWorld(never);
    await law.enroll(items(1));
    law.setSource({ kind: 'unknown', reason: 'freed' });
    law.trigger();
    await law.run(3_600_000);
    expect(law.outcomes).toHaveLength(1);
  });

  test('a cycle that acted is followed by one look at what came of it, which tells that all is done', async () => {
    const law = lawWorld(never);
    await law.enroll(items(1));
    law.setSource(known(items(3)));
    law.trigger();
    await law.run(1_000);
    expect(law.outcomes).toMatchObject([{ counts: { created: 2 } }, { counts: { created: 0, deferred: 0 } }]);
    await law.run(3_600_000);
    expect(law.outcomes.slice(2).filter(({ startedMs }) => startedMs > 60_000 + 12_000)).toEqual([]);
  });

  test('a label that the sink takes and never shows is not written again and again', async () => {
    let labels = 0;
    const law = lawWorld({
      ...never,
      rule: {
        label: async () => {
          labels += 1;
        },
      },
    });
    await law.world.addForeign({ 'infrakit.enrollment.name': 'nfs', 'infrakit.enrollment.sourceID': 'named' });
    law.setSource(known([{ id: 'named' }]));
    law.start();
    await law.run(60_000);
    expect(labels).toBe(2);
  });

  test('without any trigger a change is seen at the next resync', async () => {
    const law = lawWorld();
    await law.enroll(items(1));
    law.setSource(known(items(2)));
    await law.run(6_000);
    expect(law.enrolled()).toHaveLength(2);
  });
});

describe('Law 8: a cycle with nothing to do writes to no sink and no store', () => {
  test.each([
    ['the same answer', () => known(items(100))],
    ['an equal answer, made anew', () => known(items(100).map((item) => ({ ...item })))],
  ])('for hours, over restarts; the source gives %s', async (_, answer) => {
    const law = lawWorld();
    await law.enroll(items(100));
    const same = answer();
    law.setSource(async () => (_ === 'the same answer' ? same : answer()));
    const writes = law.world.writes();
    for (let hour = 0; hour < 4; hour += 1) {
      await law.run(900_000);
      law.restart();
    }
    expect(law.outcomes.length).toBeGreaterThan(700);
    expect(law.world.writes()).toBe(writes);
    expect(law.writes).toEqual([]);
    expect(law.storage.size).toBe(0);
  });

  test('nor does one that is held, has a quarantined member, or sees foreign entries', async () => {
    const law = lawWorld();
    await law.enroll(items(10));
    await law.world.addForeign(null);
    law.setSource(known([...items(10).slice(5), { id: 'bad', key: null }], { target: 10 }));
    law.trigger();
    await law.run(60_000);
    expect(law.writes).toEqual(['journal budget/enrollment/nfs']);
    law.writes.length = 0;
    await law.run(3_600_000);
    expect(law.writes).toEqual([]);
  });

  test('10,000 triggers in 10 s make a bounded number of cycles', async () => {
    const law = lawWorld(never);
    await law.enroll(items(10));
    for (let n = 0; n < 10_000; n += 1) {
      law.trigger();
      if (n % 10 === 0) await law.clock.advance(10);
    }
    await law.run(2_000);
    expect(law.outcomes.length).toBeGreaterThanOrEqual(10);
    expect(law.outcomes.length).toBeLessThanOrEqual(11);
    expect(law.writes).toEqual([]);
  });
});

describe('Law 8: a sink that is eventually consistent', () => {
  test.each([1, 3, 10])(
    'shows what is new after %d describes: nothing is made twice, keys or not',
    async (describes) => {
      for (const hasKeys of [true, false]) {
        const law = lawWorld({ hasKeys });
        law.faults.describe = { kind: 'delay-visibility', describes };
        law.setSource(known(items(20)));
        law.start();
        for (let n = 0; n < 20; n += 1) {
          law.trigger();
          await law.run(1_000);
        }
        await law.run(120_000);
        expect(law.world.made()).toBe(20);
        expect(law.enrolled()).toHaveLength(20);
      }
    },
  );
});
