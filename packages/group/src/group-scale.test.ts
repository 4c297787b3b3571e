import { describe, expect, test } from 'vitest';
import { type GroupWorld, groupWorld, sizedSpec } from './group-world.ts';

const grown = async (size: number, options: Parameters<typeof groupWorld>[0] = {}): Promise<GroupWorld> => {
  const at = groupWorld(options);
  await at.start();
  await at.commit(sizedSpec('cattle', size));
  await at.run();
  return at;
};

const scale = (at: GroupWorld, size: number) => at.during(at.group().setSize({ name: 'cattle', size }, at.ctx), 1_000);

const slots = (at: GroupWorld): string[] =>
  at
    .ids()
    .map((id) => at.tagsOf(id)['infrakit.slot'] ?? '')
    .sort();

describe('a group of a size (GP §1.7)', () => {
  test('E1: commits to its size, with the tags of GP §0.5 and a slot each', async () => {
    const at = await grown(3);
    expect(at.ids()).toHaveLength(3);
    expect(slots(at)).toEqual(['0', '1', '2']);
    const tags = at.tagsOf(at.ids()[0] ?? '');
    expect(tags).toMatchObject({ 'infrakit.group': 'cattle', tier: 'test' });
    expect(tags['infrakit.config.hash']).toMatch(/^[a-z2-7]{32}$/);
    expect(await at.state()).toMatchObject({ Converged: true, Size: 3 });
  });

  test('10 → 20 → 8: the target is durable before the answer, and members follow', async () => {
    const at = await grown(10);
    const before = at.writes.length;
    expect(await at.group().setSize({ name: 'cattle', size: 20 }, at.ctx)).toEqual({ before: 10, after: 20 });
    expect(at.writes.length).toBe(before + 1);
    await at.run();
    expect(at.ids()).toHaveLength(20);
    await scale(at, 8);
    expect(new Set(slots(at)).size).toBe(8);
    expect(await at.known()).toMatchObject({ count: 8, target: 8 });
  });

  test('a scale and a destroy by name that were only just answered are not converged, and are when their members are there', async () => {
    const at = await grown(3);
    const progress = async () =>
      (await at.group().status({ search: { name: 'cattle' } }, at.ctx)).statuses[0]?.progress;
    expect(await progress()).toEqual({ kind: 'converged' });
    await at.group().setSize({ name: 'cattle', size: 4 }, at.ctx);
    expect(await progress()).toEqual({ kind: 'working', reason: '3 of 4 members' });
    await at.run();
    expect(await progress()).toEqual({ kind: 'converged' });
    // One of another size is there as well, so that the count alone would do.
    at.faults.destroy = { kind: 'error' };
    await at.group().destroyInstances({ name: 'cattle', instances: at.ids().slice(0, 1) }, at.ctx);
    await at.group().setSize({ name: 'cattle', size: 4 }, at.ctx);
    expect(await progress()).toEqual({ kind: 'working', reason: '1 members are still to go' });
    at.faults.destroy = undefined;
    await at.run(10_000);
    expect(await progress()).toEqual({ kind: 'converged' });
    expect(at.ids()).toHaveLength(4);
  });

  test('G-6, Law 2: 0 is a size, and the members leave by it', async () => {
    const at = await grown(2);
    await at.during(at.group().registerConsumer({ name: 'cattle', consumer: 'nfs' }, at.ctx));
    await scale(at, 0);
    expect(at.ids()).toEqual([]);
    expect(await at.known()).toMatchObject({ count: 0, target: 0, phase: 'running' });
    expect((await at.whole()).departures.map(({ Cause }) => Cause)).toEqual(['scale', 'scale']);
  });

  test('G-3: the same size twice, and a commit of the present spec, assert the target anew', async () => {
    const at = await grown(2);
    at.faults.provision = { kind: 'error' };
    await scale(at, 5);
    at.faults.provision = undefined;
    await scale(at, 5);
    await at.commit(sizedSpec('cattle', 5), 2);
    await at.run(20_000);
    expect(at.ids()).toHaveLength(5);
  });

  test('S7, E3: members that vanish are replaced in their slots, others stay', async () => {
    const at = await grown(4);
    const [first = '', second = '', ...kept] = at.ids();
    await at.world.removeBehind(first);
    await at.world.removeBehind(second);
    at.faults.describe = { kind: 'error' };
    await at.run(11_000);
    expect(at.ids()).toEqual(kept);
    expect((await at.whole()).membership).toMatchObject({ kind: 'unknown' });
    at.faults.describe = undefined;
    await at.run(40_000);
    expect(at.ids()).toHaveLength(4);
    expect(at.ids()).toEqual(expect.arrayContaining(kept));
    expect(slots(at)).toEqual(['0', '1', '2', '3']);
  });

  test('G-1, I14: our own host is never the victim while another is left', async () => {
    const at = groupWorld({ self: 'i-000001' });
    await at.start();
    await at.commit(sizedSpec('cattle', 3));
    await at.run();
    await scale(at, 1);
    expect(at.ids()).toEqual(['i-000001']);
    await at.during(at.group().destroy({ name: 'cattle' }, at.ctx), 5_000);
    expect(at.ids()).toEqual([]);
  });

  test('I14: a destroy takes our own host last, and really', async () => {
    const at = groupWorld({ self: 'i-000001' });
    await at.start();
    await at.commit(sizedSpec('cattle', 3));
    await at.run();
    at.calls.length = 0;
    await at.during(at.group().destroy({ name: 'cattle' }, at.ctx), 5_000);
    const destroyed = at.calls.filter((call) => call.startsWith('destroy'));
    expect(destroyed).toHaveLength(3);
    expect(destroyed.at(-1)).toBe('destroy i-000001 terminate');
  });

  test('G-2 wins over S3: outdated members go first, then unhealthy ones, then the lowest ids', async () => {
    const at = await grown(4);
    const [a = '', b = '', c = '', d = ''] = at.ids();
    at.flavorWorld.setHealth(c, 'unhealthy');
    await at.run(40_000);
    await scale(at, 3);
    expect(at.ids()).toEqual([a, b, d]);
    await scale(at, 2);
    expect(at.ids()).toEqual([b, d]);
  });

  test('G-14: each member is prepared as its own slot', async () => {
    const at = await grown(3);
    expect(at.prepared.map(({ Sequence }) => Sequence).sort()).toEqual([0, 1, 2]);
    expect(new Set(at.prepared.map(({ Group }) => Group))).toEqual(new Set(['cattle']));
  });

  test('G-19: at most MaxParallelNum at once, as a sliding window', async () => {
    let [now, most] = [0, 0];
    const at = groupWorld({
      perQueue: 2,
      around: async (call, act) => {
        if (!call.startsWith('provision')) return act();
        now += 1;
        most = Math.max(most, now);
        await Promise.resolve();
        const answer = await act();
        now -= 1;
        return answer;
      },
    });
    await at.start();
    await at.commit(sizedSpec('cattle', 9));
    await at.run();
    expect([at.ids().length, most]).toEqual([9, 2]);
  });

  test('G-21: members that the sink shows late are not made again', async () => {
    const at = groupWorld();
    at.faults.describe = { kind: 'delay-visibility', describes: 5 };
    await at.start();
    await at.commit(sizedSpec('cattle', 3));
    expect(await at.known()).toMatchObject({ count: 3 });
    await at.run(60_000);
    expect(at.world.made()).toBe(3);
    expect(await at.known()).toMatchObject({ count: 3, target: 3 });
  });

  test('G-22: a member that cannot be made backs off, and describe says why', async () => {
    const at = groupWorld();
    at.faults.provision = { kind: 'error' };
    await at.start();
    await at.commit(sizedSpec('cattle', 1));
    await at.run(120_000);
    const tries = at.calls.filter((call) => call.startsWith('provision')).length;
    expect(tries).toBeGreaterThan(3);
    expect(tries).toBeLessThan(15);
    expect(await at.state()).toMatchObject({ Converged: false, Reason: expect.stringContaining('injected fault') });
  });

  test('GP §1.12 S3 of a stranger: what lacks the tag is never counted or destroyed (GP §8.7)', async () => {
    const at = groupWorld();
    await at.world.addForeign({ role: 'mine' });
    await at.start();
    await at.commit(sizedSpec('cattle', 1));
    await at.run();
    await scale(at, 0);
    expect(at.world.all().map(({ Tags }) => Tags)).toEqual([{ role: 'mine' }]);
  });

  test('GP-S3: a plugin that answers with more than was asked for gets no stranger destroyed', async () => {
    const at = groupWorld({
      around: async (call, act) => {
        const answer = await act();
        if (call !== 'describe') return answer;
        const stranger = { ID: 'stranger', LogicalID: null, Tags: { role: 'mine' } };
        const listing = answer as { kind: string; instances?: unknown[] };
        if (listing.instances === undefined) return answer;
        return { ...listing, instances: [...listing.instances, stranger] } as typeof answer;
      },
    });
    await at.start();
    await at.commit(sizedSpec('cattle', 1));
    await at.run();
    await scale(at, 0);
    expect(at.calls.filter((call) => call.startsWith('destroy'))).toEqual(['destroy i-000001 terminate']);
    expect(await at.known()).toMatchObject({ count: 0 });
  });

  test('GP §1.9: a flavor cannot take away the tags by which a member is found', async () => {
    const at = groupWorld();
    await at.start();
    const spec = sizedSpec('cattle', 1);
    const Flavor = { Plugin: 'vanilla', Properties: { Tags: { 'infrakit.group': 'pets', 'infrakit.slot': '7' } } };
    await at.commit({ ...spec, properties: { ...(spec.properties as object), Flavor } });
    await at.run(60_000);
    expect(at.ids().map((id) => at.tagsOf(id)['infrakit.slot'])).toEqual(['0']);
    expect(at.world.made()).toBe(1);
  });

  test('G-12: not converged from the moment the size is set until it is reached', async () => {
    const at = await grown(2);
    await at.group().setSize({ name: 'cattle', size: 4 }, at.ctx);
    expect(await at.state()).toMatchObject({ Converged: false, Reason: '2 of 4 members' });
    await at.run();
    expect(await at.state()).toMatchObject({ Converged: true });
  });

  test('Law 8: an idle group writes to no sink and no store, and describes no member anew', async () => {
    const at = await grown(5);
    await at.run(60_000);
    const { length } = at.writes;
    at.calls.length = 0;
    const { count } = at.told;
    const sunk = at.world.writes();
    await at.run(3_600_000);
    expect([at.writes.length, at.told.count, at.world.writes()]).toEqual([length, count, sunk]);
    expect(new Set(at.calls)).toEqual(new Set(['describe']));
  });
});
