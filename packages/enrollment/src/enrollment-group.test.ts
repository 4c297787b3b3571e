import { describe, expect, test } from 'vitest';
import { cattleNfs, enrollmentWorld } from '../../../test/enrollment/world.ts';

describe('EI §7: a group enrolled into a sink', () => {
  test('each member has one entry with its tags; a further ten rounds change nothing (Law 8)', async () => {
    const w = await enrollmentWorld();
    const members = await w.makeGroup('cattle', 10);
    await w.commit(cattleNfs());
    await w.soon();
    expect(w.enrolled()).toEqual(members);
    expect(w.world.all().map(({ Tags, Properties }) => ({ Tags, Properties }))).toContainEqual({
      Tags: {
        'infrakit.enrollment.owner': 'stack/nfs/cattle-nfs',
        'infrakit.enrollment.name': 'cattle-nfs',
        'infrakit.enrollment.sourceID': members[0],
      },
      Properties: { host: members[0], iops: 10 },
    });
    const before = w.writes().length;
    const [stored, entries] = [[...w.storage], w.world.all()];
    await w.run(50_000);
    expect(w.writes()).toHaveLength(before);
    expect([...w.storage]).toEqual(stored);
    expect(w.world.all()).toEqual(entries);
    await w.stop();
  });

  test('scaling 10 → 20 → 8 is followed by events, long before the next resync; other groups cause nothing', async () => {
    const w = await enrollmentWorld();
    await w.makeGroup('cattle', 10);
    await w.makeGroup('miners', 5);
    await w.commit(cattleNfs({ options: { SyncInterval: '1h' } }));
    await w.soon();
    for (const size of [20, 8]) {
      await w.scale('cattle', size);
      await w.scale('miners', size);
      await w.soon();
      expect(w.enrolled()).toEqual(w.machines.members('cattle'));
      expect(w.enrolled()).toHaveLength(size);
    }
    expect(w.writes().filter(({ call }) => call === 'destroy')).toHaveLength(12);
    expect(w.writes().every((one) => one.call !== 'destroy' || one.reason === 'terminate')).toBe(true);
    await w.stop();
  });
});
