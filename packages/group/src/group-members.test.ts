import { describe, expect, test } from 'vitest';
import { type GroupWorld, groupWorld, sizedSpec } from './group-world.ts';

const grown = async (size: number, options: Parameters<typeof groupWorld>[0] = {}): Promise<GroupWorld> => {
  const at = groupWorld(options);
  await at.start();
  await at.commit(sizedSpec('cattle', size));
  await at.run();
  return at;
};

const register = (at: GroupWorld, consumer = 'nfs') =>
  at.group().registerConsumer({ name: 'cattle', consumer }, at.ctx);
const setSize = (at: GroupWorld, size: number) => at.group().setSize({ name: 'cattle', size }, at.ctx);
const destroyInstances = (at: GroupWorld, instances: string[]) =>
  at.group().destroyInstances({ name: 'cattle', instances }, at.ctx);

const departures = async (at: GroupWorld, since = 0) =>
  (await at.whole('cattle', since)).departures.map(({ ID, Cause }) => `${ID} ${Cause}`);

describe('who is in, who left, and why (DESIGN §3 Membership)', () => {
  test('a member is in when its Provision answers, and out when its Destroy does: no describe is waited for', async () => {
    const at = await grown(1);
    at.faults.describe = { kind: 'timeout' };
    await at.run(100);
    at.faults.describe = undefined;
    await setSize(at, 3);
    await at.run(60);
    expect(await at.known()).toMatchObject({ count: 3 });
    expect(at.eventsOf('joined')).toHaveLength(3);
    await setSize(at, 1);
    await at.run(120);
    expect(at.eventsOf('left')).toHaveLength(2);
    expect(await at.known()).toMatchObject({ count: 1 });
  });

  test('events carry incarnation, a rising seq, the member and the cause; leaving comes before left', async () => {
    const at = await grown(2);
    const [id = ''] = at.ids();
    await destroyInstances(at, [id]);
    await at.run();
    const data = at.told.events.map(({ Topic, ID, Data }) => ({ Topic, ID, Data: Data as Record<string, unknown> }));
    expect(data.map(({ Data }) => Data.seq)).toEqual([1, 2, 3, 4]);
    expect(new Set(data.map(({ Data }) => Data.incarnation)).size).toBe(1);
    expect(data.slice(2)).toEqual([
      { Topic: 'cattle/member/leaving', ID: id, Data: expect.objectContaining({ cause: 'request' }) },
      { Topic: 'cattle/member/left', ID: id, Data: expect.objectContaining({ cause: 'request' }) },
    ]);
    expect(data[3]?.Data.member).toMatchObject({ ID: id, LogicalID: null, Health: 'healthy' });
  });

  test('the member topics hold the whole membership, once for a burst, and are cleared on leave', async () => {
    const at = await grown(10);
    expect(at.told.members.get('cattle')?.map(({ ID }) => ID)).toEqual(at.ids());
    const { count } = at.told;
    await setSize(at, 20);
    await at.run();
    // One list for ten members, beside an event for each.
    expect(at.told.count - count).toBe(11);
    await setSize(at, 3);
    await at.run();
    expect(at.told.members.get('cattle')?.map(({ ID }) => ID)).toEqual(at.ids());
  });

  test('a restart leaves the member topics as they are until it knows better', async () => {
    const at = await grown(3);
    await at.kill();
    at.faults.describe = { kind: 'timeout' };
    const before = at.told.members.get('cattle');
    await at.start();
    await at.commit(sizedSpec('cattle', 3));
    await at.run(30_000);
    expect(at.told.members.get('cattle')).toBe(before);
    at.faults.describe = undefined;
    await at.world.removeBehind(at.ids()[0] ?? '');
    await at.run(60_000);
    expect(at.told.members.get('cattle')?.map(({ ID }) => ID)).toEqual(at.ids());
  });

  test('Law 7: a key that the sink knows for a member of another slot asks for a further one', async () => {
    const at = await grown(1);
    const [id = ''] = at.ids();
    const thing = at.world.find(id);
    if (thing === undefined) throw new Error('the member is not there');
    const Tags = { ...thing.description.Tags, 'infrakit.slot': '1' };
    at.world.put({ ...thing, description: { ...thing.description, Tags } });
    await at.run(11_000);
    await setSize(at, 2);
    await at.run(30_000);
    expect(
      at
        .ids()
        .map((one) => at.tagsOf(one)['infrakit.slot'])
        .sort(),
    ).toEqual(['0', '1']);
    expect(at.ids()).toContain(id);
  });

  test('a changed tag and a changed health are told as changes', async () => {
    const at = await grown(1);
    const [id = ''] = at.ids();
    at.flavorWorld.setHealth(id, 'unhealthy');
    await at.run(40_000);
    expect(at.eventsOf('changed')).toHaveLength(1);
    expect((await at.whole()).members[0]).toMatchObject({ Health: 'unhealthy' });
    const thing = at.world.find(id);
    if (thing === undefined) throw new Error('the member is not there');
    at.world.put({ ...thing, description: { ...thing.description, Tags: { ...thing.description.Tags, mine: 'yes' } } });
    await at.run(11_000);
    expect(at.eventsOf('changed')).toHaveLength(2);
    expect((await at.whole()).members[0]).toMatchObject({ Health: 'unhealthy', Tags: { mine: 'yes' } });
  });

  test('members whose health is in doubt are asked about at each look, the others every 30 s', async () => {
    const at = groupWorld();
    at.flavorWorld.setHealth('i-000001', 'unknown');
    await at.start();
    await at.commit(sizedSpec('cattle', 1));
    await at.run();
    expect((await at.whole()).members[0]).toMatchObject({ Health: 'unknown' });
    at.flavorWorld.setHealth('i-000001', 'healthy');
    await at.run(11_000);
    expect((await at.whole()).members[0]).toMatchObject({ Health: 'healthy' });
  });

  test('X1: a flavor that cannot tell counts as unknown, and holds up nobody', async () => {
    const at = groupWorld();
    await at.start();
    await at.commit(sizedSpec('cattle', 1));
    at.offline.add('vanilla');
    await at.run(40_000);
    expect((await at.whole()).members.map(({ Health }) => Health)).toEqual(['unknown']);
    await setSize(at, 0);
    await at.run();
    expect(at.ids()).toEqual([]);
  });

  test('unknown before the first look and while the sink cannot be read, known after (Law 1)', async () => {
    const at = groupWorld();
    at.faults.describe = { kind: 'error' };
    await at.start();
    await at.commit(sizedSpec('cattle', 2));
    expect((await at.whole()).membership).toMatchObject({ kind: 'unknown' });
    expect(await at.group().size({ name: 'cattle' }, at.ctx)).toEqual({ size: 2 });
    at.faults.describe = undefined;
    await at.run(20_000);
    expect(await at.known()).toMatchObject({ count: 2 });
    at.faults.describe = { kind: 'timeout' };
    await at.run(60_000);
    expect((await at.whole()).membership).toMatchObject({ kind: 'unknown' });
    expect((await at.whole()).members).toEqual([]);
    at.faults.describe = undefined;
    await at.run(60_000);
    expect(await at.known()).toMatchObject({ count: 2 });
    expect(at.world.made()).toBe(2);
  });

  test('G-4: one stranger refuses the whole call; members only lower the target, once', async () => {
    const at = await grown(4);
    const [a = '', b = ''] = at.ids();
    await expect(destroyInstances(at, [a, 'stranger'])).rejects.toMatchObject({
      code: 'MEMBER_UNKNOWN',
      message: 'no members of cattle: stranger',
    });
    await at.run();
    expect(at.ids()).toHaveLength(4);
    const { length } = at.writes;
    expect(await destroyInstances(at, [a, b, a])).toEqual({ size: 2 });
    expect(at.writes.slice(length)).toEqual(['group/cattle']);
    expect(await destroyInstances(at, [a])).toEqual({ size: 2 });
    await at.run(30_000);
    expect(at.ids()).toHaveLength(2);
    expect(at.ids()).not.toEqual(expect.arrayContaining([a]));
    expect(at.world.made()).toBe(4);
  });

  test('G-4: who is in must be known to be named', async () => {
    const at = await grown(2);
    at.faults.describe = { kind: 'error' };
    await at.run(11_000);
    await expect(destroyInstances(at, at.ids())).rejects.toMatchObject({ code: 'PLUGIN_UNAVAILABLE' });
  });

  test('a departure is journalled before the destroy, all of a cycle in one write', async () => {
    const order: string[] = [];
    const at = await grown(5, {
      around: (call, act) => {
        if (call === 'write' || call.startsWith('destroy')) order.push(call.split(' ')[0] ?? '');
        return act();
      },
    });
    order.length = 0;
    await setSize(at, 2);
    await at.run();
    expect(order).toEqual(['write', 'write', 'destroy', 'destroy', 'destroy']);
  });

  test('a journal that cannot be written destroys nobody (Law 6)', async () => {
    let isBroken = false;
    const at = await grown(3, {
      around: (call, act) => (isBroken && call === 'write' ? Promise.reject(new Error('no disk')) : act()),
    });
    await setSize(at, 1);
    isBroken = true;
    await at.run(30_000);
    expect(at.ids()).toHaveLength(3);
    await expect(setSize(at, 0)).rejects.toThrow('no disk');
    expect(await at.group().size({ name: 'cattle' }, at.ctx)).toEqual({ size: 1 });
    isBroken = false;
    await at.run(60_000);
    expect(at.ids()).toHaveLength(1);
  });

  test('revisions rise over restarts, and departures survive until they are acknowledged', async () => {
    const at = await grown(3);
    await register(at);
    const before = (await at.known()).revision;
    await setSize(at, 2);
    await at.run();
    const [left = ''] = await departures(at);
    expect(left).toMatch(/ scale$/);
    await at.kill();
    await at.start();
    expect((await at.whole()).membership).toMatchObject({ kind: 'unknown' });
    await at.commit(sizedSpec('cattle', 3));
    await at.run();
    const { revision, count } = await at.known();
    expect([count, revision > before]).toEqual([2, true]);
    expect(await departures(at)).toEqual([left]);
    await at.group().acknowledge({ name: 'cattle', consumer: 'nfs', revision }, at.ctx);
    await at.kill();
    await at.start();
    await at.commit(sizedSpec('cattle', 3));
    await at.run();
    expect(await departures(at)).toEqual([]);
  });

  test('a member whose destroy was accepted just before a crash departed by its cause all the same', async () => {
    const at = await grown(3);
    await register(at);
    const { revision } = await at.known();
    at.faults.destroy = { kind: 'lose-answer' };
    await setSize(at, 2);
    await at.run(60);
    expect(at.ids()).toHaveLength(2);
    await at.kill();
    at.faults.destroy = undefined;
    await at.start();
    await at.commit(sizedSpec('cattle', 3));
    await at.run();
    expect(await departures(at, revision)).toEqual([expect.stringMatching(/ scale$/)]);
  });

  test('one that is wanted again after a crash is not explained when it dies later (Law 6)', async () => {
    const at = await grown(3);
    await register(at);
    at.faults.destroy = { kind: 'error' };
    await setSize(at, 2);
    await at.run(100);
    await at.kill();
    at.faults.destroy = undefined;
    await at.start();
    await at.commit(sizedSpec('cattle', 3), 2);
    await at.run();
    expect(at.ids()).toHaveLength(3);
    const [first = ''] = at.ids();
    await at.world.removeBehind(first);
    await at.run(12_000);
    expect(await departures(at)).toEqual([`${first} vanished`]);
  });

  test('who vanished is told as vanished', async () => {
    const at = await grown(2);
    await register(at);
    const [id = ''] = at.ids();
    await at.world.removeBehind(id);
    await at.run(12_000);
    expect(await departures(at)).toEqual([`${id} vanished`]);
  });

  test('the answer to the present digest costs nothing, the whole is made once a change', async () => {
    const at = await grown(2);
    const { digest } = await at.known();
    const { group } = at.controller();
    const ask = () => group.members({ name: 'cattle' }, at.ctx);
    expect(await group.members({ name: 'cattle', digest }, at.ctx)).toEqual({ kind: 'unchanged', digest });
    expect(await ask()).toBe(await ask());
  });
});
