import { describe, expect, test } from 'vitest';
import { type GroupWorld, type GroupWorldOptions, groupWorld, quorumSpec, sizedSpec } from './group-world.ts';

const grown = async (size: number, options: Parameters<typeof groupWorld>[0] = {}): Promise<GroupWorld> => {
  const at = groupWorld(options);
  await at.start();
  await at.commit(sizedSpec('cattle', size));
  await at.run();
  at.calls.length = 0;
  return at;
};

const hashes = (at: GroupWorld): Set<string | undefined> =>
  new Set(at.ids().map((id) => at.tagsOf(id)['infrakit.config.hash']));

const acts = (at: GroupWorld): string[] => at.calls.filter((call) => !/^(describe|validate|drain)/.test(call));

describe('a changed configuration (GP §1.10)', () => {
  test('I2, I17: replaces members one by one, a new one in the slot before the old one goes', async () => {
    const at = await grown(3);
    const before = at.ids();
    const spec = sizedSpec('cattle', 3, 2);
    expect(await at.planLines(spec)).toEqual(['Performing a rolling update on 3 instances']);
    await at.commit(spec, 2);
    await at.run(5_000);
    expect(acts(at)).toEqual(before.flatMap((id, slot) => [`provision ${slot}`, `destroy ${id} rolling_update`]));
    expect(at.flavorWorld.drained()).toEqual(before);
    expect([hashes(at).size, at.ids().length]).toEqual([1, 3]);
    expect(await at.state()).toMatchObject({ Converged: true });
    expect(await at.planLines(spec)).toEqual(['Noop']);
  });

  test('I1: the same spec again touches nobody', async () => {
    const at = await grown(3);
    expect(await at.planLines(sizedSpec('cattle', 3))).toEqual(['Noop']);
    await at.commit(sizedSpec('cattle', 3), 2);
    await at.run(30_000);
    expect(acts(at)).toEqual([]);
  });

  test('I2, I20: goes on only while the new members are healthy; unhealthy old ones do not block', async () => {
    const at = await grown(3);
    const [first = '', second = '', third = ''] = at.ids();
    at.flavorWorld.setHealth(third, 'unhealthy');
    at.flavorWorld.setHealth('i-000004', 'unknown');
    await at.run(40_000);
    await at.commit(sizedSpec('cattle', 3, 2), 2);
    await at.run(60_000);
    expect(at.ids()).toEqual([second, third, 'i-000004']);
    expect(await at.state()).toMatchObject({ Converged: false, Reason: '2 members are of another configuration' });
    at.flavorWorld.setHealth('i-000004', 'healthy');
    await at.run(60_000);
    expect(at.ids()).not.toContain(first);
    expect(hashes(at).size).toBe(1);
  });

  test('I9: a bigger size of another configuration: the new slots are filled, then the old members go', async () => {
    const at = await grown(3);
    const spec = sizedSpec('cattle', 8, 2);
    expect(await at.planLines(spec)).toEqual([
      'Performing a rolling update on 3 instances, then adding 5 instances to increase the group size to 8',
    ]);
    await at.commit(spec, 2);
    await at.run(10_000);
    expect([at.ids().length, hashes(at).size]).toEqual([8, 1]);
    expect(at.flavorWorld.drained()).toHaveLength(3);
  });

  test('G-18: surplus members go before anybody is replaced', async () => {
    const at = await grown(4);
    const [a = '', b = ''] = at.ids();
    await at.commit(sizedSpec('cattle', 2, 2), 2);
    await at.run(10_000);
    expect(acts(at).slice(0, 2).sort()).toEqual([`destroy ${a} terminate`, `destroy ${b} terminate`]);
    expect([at.ids().length, hashes(at).size]).toEqual([2, 1]);
  });

  test('D3, I5: a drain that fails keeps the old member, which is tried again (G-17)', async () => {
    const at = await grown(2);
    at.drainFaults.error = true;
    await at.commit(sizedSpec('cattle', 2, 2), 2);
    await at.run(500);
    expect(acts(at).filter((call) => call.startsWith('destroy'))).toEqual([]);
    expect(await at.state()).toMatchObject({ Converged: false });
    at.drainFaults.error = false;
    await at.run(30_000);
    expect([at.ids().length, hashes(at).size]).toEqual([2, 1]);
  });

  test('D4, D6: a member that is terminated goes though its drain failed, and is drained with skip=drain too', async () => {
    const at = groupWorld();
    await at.start();
    const skipping = (size: number, n: number) => {
      const spec = sizedSpec('cattle', size, n);
      const Updating = { SkipBeforeInstanceDestroy: 'drain' };
      return { ...spec, properties: { ...(spec.properties as object), Updating } };
    };
    await at.commit(skipping(3, 1));
    await at.run();
    at.drainFaults.error = true;
    await at.during(at.group().setSize({ name: 'cattle', size: 2 }, at.ctx), 1_000);
    expect([at.ids().length, at.flavorWorld.drained().length]).toEqual([2, 1]);
    // D5, I8: none of those that are replaced is drained.
    await at.commit(skipping(2, 2), 2);
    await at.run(5_000);
    expect([at.ids().length, hashes(at).size, at.flavorWorld.drained().length]).toEqual([2, 1, 1]);
  });

  test('GP §1.9: our own host is not replaced, and the group counts as converged without it', async () => {
    const at = await grown(3, { self: 'i-000002' });
    await at.commit(sizedSpec('cattle', 3, 2), 2);
    await at.run(20_000);
    expect(at.ids()).toContain('i-000002');
    expect([at.ids().length, hashes(at).size]).toEqual([3, 2]);
    expect(await at.state()).toMatchObject({ Converged: true });
  });

  test('G-7: a commit in the middle of an update: one update, to the newest configuration', async () => {
    let [most, count] = [0, () => 0];
    const at = await grown(4, {
      around: (_call, act) => {
        most = Math.max(most, count());
        return act();
      },
    });
    count = () => at.ids().length;
    await at.commit(sizedSpec('cattle', 4, 2), 2);
    await at.commit(sizedSpec('cattle', 4, 3), 3);
    await at.run(10_000);
    expect([at.ids().length, hashes(at).size, most]).toEqual([4, 1, 5]);
    expect(await at.planLines(sizedSpec('cattle', 4, 3))).toEqual(['Noop']);
  });

  test('Law 9: a new member that cannot be made keeps the old one', async () => {
    const at = await grown(2);
    const before = at.ids();
    at.faults.provision = { kind: 'error' };
    await at.commit(sizedSpec('cattle', 2, 2), 2);
    await at.run(60_000);
    expect(at.ids()).toEqual(before);
    expect(await at.state()).toMatchObject({ Converged: false, Reason: expect.stringContaining('injected fault') });
  });

  test('G-12: the departures of an update say so, and the state tells target and members', async () => {
    const at = await grown(2);
    await at.during(at.group().registerConsumer({ name: 'cattle', consumer: 'nfs' }, at.ctx));
    await at.commit(sizedSpec('cattle', 2, 2), 2);
    await at.run(5_000);
    expect((await at.whole()).departures.map(({ Cause }) => Cause)).toEqual(['update', 'update']);
    expect(at.told.states.get('cattle')?.counts).toMatchObject({ members: 2, target: 2 });
    expect(at.eventsOf('left').map(({ Data }) => Data)).toEqual([
      expect.objectContaining({ cause: 'update' }),
      expect.objectContaining({ cause: 'update' }),
    ]);
  });
});

describe('a group of logical ids (GP §1.8)', () => {
  const quorum = async (around?: GroupWorldOptions['around']): Promise<GroupWorld> => {
    const at = groupWorld(around === undefined ? {} : { around });
    await at.start();
    await at.commit(quorumSpec('cattle', ['one', 'two', 'three']));
    await at.run();
    at.calls.length = 0;
    return at;
  };
  const logicalIds = async (at: GroupWorld) => (await at.whole()).members.map(({ LogicalID }) => LogicalID).sort();

  test('Q1–Q4: one member for each id, made and destroyed by it', async () => {
    const at = await quorum();
    expect(await logicalIds(at)).toEqual(['one', 'three', 'two']);
    expect(at.prepared.map(({ Sequence }) => Sequence).sort()).toEqual([0, 1, 2]);
    await at.run(30_000);
    expect(acts(at)).toEqual([]);
    const three = at.world.all().find(({ LogicalID }) => LogicalID === 'three');
    await at.world.removeBehind(three?.ID ?? '');
    await at.run(12_000);
    expect(acts(at)).toEqual(['provision three']);
    const stray = await at.world.addForeign({ 'infrakit.group': 'cattle', 'infrakit.logical_id': 'four' });
    await at.run(12_000);
    expect(acts(at)).toEqual(['provision three', `destroy ${stray} terminate`]);
    expect(await at.planLines(quorumSpec('cattle', ['one', 'two', 'three']))).toEqual(['Noop']);
  });

  test('DESIGN §4 wins over Q5: a commit may change the ids', async () => {
    const at = await quorum();
    await at.commit(quorumSpec('cattle', ['two', 'four']), 2);
    await at.run(5_000);
    expect(await logicalIds(at)).toEqual(['four', 'two']);
  });

  test('I15: an update keeps the ids, and never has two members of one', async () => {
    let [most, count] = [0, () => 0];
    const at = await quorum((_call, act) => {
      most = Math.max(most, count());
      return act();
    });
    count = () => at.ids().length;
    await at.commit(quorumSpec('cattle', ['one', 'two', 'three'], 2), 2);
    await at.run(10_000);
    expect(await logicalIds(at)).toEqual(['one', 'three', 'two']);
    expect([hashes(at).size, most]).toEqual([1, 3]);
  });

  test('G-8: of two members of one id one stays; one without an id is left alone', async () => {
    const at = await quorum();
    const hash = at.tagsOf(at.ids()[0] ?? '')['infrakit.config.hash'] ?? '';
    const tags = { 'infrakit.group': 'cattle', 'infrakit.config.hash': hash };
    await at.world.addForeign({ ...tags, 'infrakit.logical_id': 'one' });
    const nobody = await at.world.addForeign(tags);
    await at.run(30_000);
    expect(at.ids()).toHaveLength(4);
    expect(at.ids()).toContain(nobody);
    await at.during(at.group().destroy({ name: 'cattle' }, at.ctx), 5_000);
    expect(at.ids()).toEqual([]);
  });
});
