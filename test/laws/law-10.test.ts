import { type LoopHealth, loopHealth } from '@infrakit/runtime';
import type { InstanceFaults } from '@infrakit/spi';
import { describe, expect, test } from 'vitest';
import { departed, items, known } from './source.ts';
import { type LawWorld, lawWorld } from './world.ts';

const hang = (): Promise<never> => new Promise(() => {});

const healthOf = (law: LawWorld): LoopHealth =>
  loopHealth(
    {
      startedMs: 0,
      completedMs: law.outcomes.findLast(({ kind }) => kind === 'completed')?.endedMs ?? null,
      nowMs: law.clock.now(),
    },
    { syncIntervalMs: 5_000, callTimeoutMs: law.settings.callTimeoutMs },
  );

describe('Law 10: every await has a deadline', () => {
  test('a source that never answers: cycles end, with an unknown source', async () => {
    const law = lawWorld();
    law.setSource(hang);
    law.start();
    await law.run(60_000);
    expect(law.outcomes.length).toBeGreaterThan(3);
    expect(law.last()).toMatchObject({ kind: 'completed', source: { kind: 'unknown' } });
    law.setSource(known(items(3)));
    await law.run(20_000);
    expect(law.enrolled()).toHaveLength(3);
  });

  test('a sink that never answers a describe: cycles end, as failed', async () => {
    const law = lawWorld();
    law.faults.describe = { kind: 'timeout' };
    law.setSource(known(items(3)));
    law.start();
    await law.run(60_000);
    expect(law.outcomes.length).toBeGreaterThan(3);
    expect(law.last()).toMatchObject({ kind: 'failed', at: 'sink', error: { code: 'RPC_TIMEOUT' } });
    law.faults.describe = undefined;
    await law.run(20_000);
    expect(law.enrolled()).toHaveLength(3);
  });

  test.each(['provision', 'destroy', 'label'] as const)(
    'a sink that never answers a %s: no cycle waits for it',
    async (method) => {
      const law = lawWorld();
      await law.enroll(items(3));
      await law.world.addForeign({ 'infrakit.enrollment.name': 'nfs', 'infrakit.enrollment.sourceID': 'named' });
      law.faults[method] = { kind: 'timeout' } satisfies InstanceFaults['label'];
      law.setSource(known([...items(4).slice(1), { id: 'named' }], { target: 5 }));
      law.trigger();
      await law.run(60_000);
      expect(law.outcomes.length).toBeGreaterThan(10);
      expect(law.outcomes.every(({ startedMs, endedMs }) => endedMs - startedMs <= 2_000)).toBe(true);
      expect(law.last()).toMatchObject({ kind: 'completed', counts: { failed: 1 } });
      law.faults[method] = undefined;
      await law.run(120_000);
      expect(law.enrolled()).toEqual(['h00002', 'h00003', 'h00004', 'named']);
    },
  );

  test.each(['read', 'write'] as const)(
    'a journal that never answers a %s: cycles end and nothing unexplained is destroyed',
    async (call) => {
      const law = lawWorld();
      await law.enroll(items(10));
      law.journalFaults[call] = 'hang';
      law.setSource(known(items(10).slice(1), { target: 10 }));
      law.restart();
      await law.run(60_000);
      expect(law.outcomes.length).toBeGreaterThan(3);
      expect(law.enrolled()).toHaveLength(10);
      law.journalFaults[call] = undefined;
      await law.run(20_000);
      expect(law.enrolled()).toHaveLength(9);
    },
  );

  test('a preparation that never answers: cycles end as failed, before they act', async () => {
    const law = lawWorld({ rule: { prepare: hang } });
    law.setSource(known(items(3)));
    law.start();
    await law.run(60_000);
    expect(law.outcomes.length).toBeGreaterThan(3);
    expect(law.last()).toMatchObject({ kind: 'failed', at: 'prepare', error: { code: 'RPC_TIMEOUT' } });
    expect(law.writes).toEqual([]);
  });

  test('an acknowledgement that never answers: cycles end, and the rest is done', async () => {
    const law = lawWorld({ rule: { settled: hang } });
    law.setSource(known(items(3), { revision: 1, departures: departed(['gone']) }));
    law.start();
    await law.run(120_000);
    expect(law.outcomes.length).toBeGreaterThan(3);
    expect(law.last()).toMatchObject({ kind: 'completed', counts: { failed: 0 } });
    expect(law.enrolled()).toHaveLength(3);
  });

  test('nothing is left armed when a loop is stopped while everything hangs', async () => {
    const law = lawWorld({ rule: { prepare: hang } });
    law.setSource(hang);
    law.faults.describe = { kind: 'timeout' };
    law.start();
    await law.run(60_000);
    law.kill();
    await law.run(60_000);
    expect(law.clock.pending()).toBe(0);
  });
});

describe('Law 10: health is the age of the last completed cycle', () => {
  test('a loop whose sink cannot be read is unhealthy though it runs, and healthy again after one cycle', async () => {
    const law = lawWorld();
    await law.enroll(items(3));
    await law.run(6_000);
    expect(healthOf(law).isHealthy).toBe(true);
    law.faults.describe = { kind: 'error' };
    await law.run(20_000);
    expect(healthOf(law).isHealthy).toBe(true);
    await law.run(10_000);
    expect(healthOf(law).isHealthy).toBe(false);
    law.faults.describe = undefined;
    await law.run(6_000);
    expect(healthOf(law).isHealthy).toBe(true);
  });

  test('members that fail or hang do not make it unhealthy', async () => {
    const law = lawWorld();
    law.faults.provision = { kind: 'timeout' };
    law.setSource(known(items(30)));
    law.start();
    await law.run(300_000);
    expect(healthOf(law).isHealthy).toBe(true);
  });
});
