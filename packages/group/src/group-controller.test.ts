import { describe, expect, test } from 'vitest';
import { groupView } from './group-view.ts';
import { type GroupWorld, type GroupWorldOptions, groupWorld, quorumSpec, sizedSpec } from './group-world.ts';

const started = async (options: GroupWorldOptions = {}): Promise<GroupWorld> => {
  const at = groupWorld(options);
  await at.start();
  return at;
};

const grown = async (size: number, options: GroupWorldOptions = {}): Promise<GroupWorld> => {
  const at = await started(options);
  await at.commit(sizedSpec('cattle', size));
  await at.run();
  return at;
};

const name = 'cattle';

describe('what a commit of a group refuses (GP §1.4)', () => {
  test('an unknown plugin, by its name, and nothing is kept or made', async () => {
    const at = await started();
    at.offline.add('vanilla');
    await expect(at.commit(sizedSpec(name, 1))).rejects.toMatchObject({
      code: 'GROUP_INVALID',
      message: "Failed to find Flavor plugin 'vanilla':nothing answers to vanilla",
    });
    at.offline.clear();
    at.offline.add('sim/compute');
    await expect(at.commit(sizedSpec(name, 1))).rejects.toMatchObject({
      code: 'GROUP_INVALID',
      message: "Failed to find Instance plugin 'sim/compute':nothing answers to sim/compute",
    });
    await at.run(20_000);
    expect([at.ids(), at.writes, at.controller().names()]).toEqual([[], [], []]);
    await expect(at.whole()).rejects.toMatchObject({ code: 'GROUP_NOT_FOUND' });
  });

  test('what the flavor or the instance plugin does not take, in their own words and with the path in the spec', async () => {
    const at = await started({ faultsOf: () => ['no such size of disk'] });
    await expect(at.commit(sizedSpec(name, 1))).rejects.toMatchObject({
      code: 'INSTANCE_INVALID',
      message: 'Instance.Properties: no such size of disk',
    });
    const spec = sizedSpec(name, 1);
    const Flavor = { Plugin: 'vanilla', Properties: { Init: 7 } };
    const bad = { ...spec, properties: { ...(spec.properties as object), Flavor } };
    await expect(at.commit(bad)).rejects.toMatchObject({
      code: 'FLAVOR_INVALID',
      message: expect.stringMatching(/^Flavor\.Properties\.Init: /),
    });
  });

  test('G-5: a change from Size to LogicalIDs, and back; no member dies', async () => {
    const at = await grown(2);
    await expect(at.commit(quorumSpec(name, ['a', 'b']), 2)).rejects.toMatchObject({ code: 'GROUP_INVALID' });
    await at.run(20_000);
    expect(at.ids()).toHaveLength(2);
    await at.commit(quorumSpec('pets', ['a']), 3);
    await expect(at.commit(sizedSpec('pets', 1), 4)).rejects.toThrow(
      'the Allocation of pets cannot change from LogicalIDs to Size while the group lives: destroy it first',
    );
  });

  test('another instance plugin for a living group, whose members it would lose', async () => {
    const at = await grown(1);
    const spec = sizedSpec(name, 1);
    const Instance = { Plugin: 'sim/other' };
    const moved = { ...spec, properties: { ...(spec.properties as object), Instance } };
    await expect(at.commit(moved, 2)).rejects.toThrow(/are kept by sim\/compute and cannot move to sim\/other/);
  });

  test('G-26: a refused commit leaves the running update running', async () => {
    const at = await grown(3);
    await at.commit(sizedSpec(name, 3, 2), 2);
    await expect(at.commit({ ...sizedSpec(name, 3), properties: {} }, 3)).rejects.toThrow(
      'Allocation must not be blank',
    );
    await at.run(10_000);
    expect(new Set(at.ids().map((id) => at.tagsOf(id)['infrakit.config.hash'])).size).toBe(1);
    expect(await at.state()).toMatchObject({ Converged: true });
  });
});

describe('the life of a group (GP §1.5)', () => {
  test('E5, G-11: free stops at once, touches nobody, and a commit takes everybody up again', async () => {
    const at = await grown(5);
    await at.during(at.group().free({ name }, at.ctx));
    expect((await at.whole()).membership).toEqual({ kind: 'unknown', reason: 'freed' });
    await at.world.removeBehind(at.ids()[0] ?? '');
    const calls = at.calls.length;
    await at.run(60_000);
    expect([at.ids().length, at.calls.length]).toEqual([4, calls]);
    await at.commit(sizedSpec(name, 5), 1);
    await at.run();
    expect(at.ids()).toHaveLength(5);
    expect(at.world.made()).toBe(6);
  });

  test('I19: free answers though an update is stuck on unknown health', async () => {
    const at = await grown(2);
    at.flavorWorld.setHealth('i-000003', 'unknown');
    await at.commit(sizedSpec(name, 2, 2), 2);
    await at.run(5_000);
    await at.during(at.group().free({ name }, at.ctx), 100);
    expect((await at.whole()).membership).toMatchObject({ kind: 'unknown' });
  });

  test('E6, I13, G-10: a destroy that fails says so by its deadline, keeps the group, and goes on', async () => {
    const at = await grown(3);
    await at.during(at.group().registerConsumer({ name, consumer: 'nfs' }, at.ctx));
    at.faults.destroy = ({ id }) => (id === 'i-000002' ? { kind: 'error' } : undefined);
    const destroyed = at.during(at.group().destroy({ name }, { ...at.ctx, timeoutMs: 5_000 }), 6_000);
    await expect(destroyed).rejects.toMatchObject({ code: 'RPC_TIMEOUT' });
    expect(at.ids()).toEqual(['i-000002']);
    expect(await at.known()).toMatchObject({ count: 1, target: 0, phase: 'running' });
    expect(await at.state()).toMatchObject({ Phase: 'destroying', Reason: expect.stringContaining('injected fault') });
    await expect(at.group().setSize({ name, size: 3 }, at.ctx)).rejects.toMatchObject({ code: 'GROUP_NOT_FOUND' });
    await expect(at.group().free({ name }, at.ctx)).rejects.toThrow('cattle is being destroyed');
    at.faults.destroy = undefined;
    await at.run(60_000);
    expect(at.ids()).toEqual([]);
    expect(await at.known()).toMatchObject({ count: 0, phase: 'destroyed' });
    expect(new Set((await at.whole()).departures.map(({ Cause }) => Cause))).toEqual(new Set(['destroy']));
    expect(at.told.members.has(name)).toBe(false);
    expect(at.flavorWorld.drained()).toEqual(expect.arrayContaining(['i-000001', 'i-000002', 'i-000003']));
  });

  test('I16: commits 3 → 8 → 5 in a row end at 5', async () => {
    const at = await grown(3);
    await at.commit(sizedSpec(name, 8), 2);
    await at.commit(sizedSpec(name, 5), 3);
    await at.run(5_000);
    expect(at.ids()).toHaveLength(5);
  });

  test('I21, A1: plans change nothing, on an empty controller and over a group', async () => {
    const at = await started();
    expect(await at.planLines(sizedSpec(name, 5))).toEqual(['Managing 5 instances']);
    expect(await at.planLines(sizedSpec(name, 5))).toEqual(['Managing 5 instances']);
    await expect(at.group().free({ name }, at.ctx)).rejects.toThrow("Group 'cattle' is not being watched");
    await at.run(20_000);
    expect([at.ids(), at.writes]).toEqual([[], []]);
  });

  test('a plan of a destroy says how many go', async () => {
    const at = await grown(3);
    const { plan } = await at.group().plan({ operation: 'destroy', spec: sizedSpec(name, 3) }, at.ctx);
    expect(plan.messages).toEqual(['Destroying 3 instances']);
  });

  test('update verbs are refused in a sentence', async () => {
    const at = await grown(1);
    await expect(at.group().update({ name, verb: 'pause' }, at.ctx)).rejects.toThrow(
      /^an update of cattle cannot be told to pause yet/,
    );
  });

  test('G-9: a record that cannot be read hides no other group, and says so', async () => {
    const at = await grown(1);
    await at.commit(sizedSpec('pets', 1), 2);
    await at.kill();
    const key = [...at.storage.keys()].find((one) => one.includes('group/cattle')) ?? '';
    at.storage.set(key, '{"phase":"odd"}');
    await at.start();
    await at.commit(sizedSpec('pets', 1), 2);
    await at.run();
    expect(await at.known('pets')).toMatchObject({ count: 1 });
    expect((await at.whole()).membership).toMatchObject({ kind: 'unknown', reason: expect.stringContaining('cattle') });
    await expect(at.commit(sizedSpec(name, 1))).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
  });

  test('G-23: a slow sink of one group holds up no other', async () => {
    const at = await grown(1);
    at.faults.describe = ({ tags }) => (tags['infrakit.group'] === name ? { kind: 'timeout' } : undefined);
    await at.run(11_000);
    await at.commit(sizedSpec('pets', 2), 2);
    await at.run();
    expect(at.ids('pets')).toHaveLength(2);
  });

  test('G-15, G-16: names may carry the lookup; the object of one group answers for that one alone', async () => {
    const at = await grown(1);
    await at.commit(sizedSpec('group/pets', 1), 2);
    expect(at.controller().names()).toEqual(['cattle', 'pets']);
    const view = groupView(at.group(), 'group', name);
    expect(await view.size({ name: 'group/cattle' }, at.ctx)).toEqual({ size: 1 });
    await expect(view.size({ name: 'pets' }, at.ctx)).rejects.toMatchObject({ code: 'GROUP_NOT_FOUND' });
    expect((await view.describe({ search: {} }, at.ctx)).objects.map(({ metadata }) => metadata.name)).toEqual([name]);
  });

  test('a plugin that comes back is a reason to look at once', async () => {
    const at = await grown(2);
    at.faults.describe = { kind: 'error' };
    await at.run(300_000);
    expect((await at.whole()).membership).toMatchObject({ kind: 'unknown' });
    at.faults.describe = undefined;
    at.bring('sim/compute');
    await at.run(200);
    expect(await at.known()).toMatchObject({ count: 2 });
  });
});
