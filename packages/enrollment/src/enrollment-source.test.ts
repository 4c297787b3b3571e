import { AppError } from '@infrakit/core';
import { type Group, groupInterface } from '@infrakit/spi';
import { describe, expect, test } from 'vitest';
import { cattleNfs, type EnrollmentWorld, enrollmentWorld } from '../../../test/enrollment/world.ts';

type Members = Awaited<ReturnType<Group['members']>>;

/** A group whose answer to "who is in" a test can replace. */
const scripted = () => {
  const script: { answer?: (() => Promise<Members>) | undefined; asked: unknown[] } = { asked: [] };
  const aroundGroup = (group: Group): Group => ({
    ...group,
    members: (params, ctx) => {
      script.asked.push(params);
      return script.answer === undefined ? group.members(params, ctx) : script.answer();
    },
  });
  return { script, aroundGroup };
};

const condition = (w: EnrollmentWorld, type: string) =>
  w.states.get('cattle-nfs')?.conditions.find((one) => one.type === type);

const enrolledWorld = async (size = 10) => {
  const { script, aroundGroup } = scripted();
  const w = await enrollmentWorld({ aroundGroup });
  await w.makeGroup('cattle', size);
  await w.commit(cattleNfs());
  await w.soon();
  expect(w.enrolled()).toHaveLength(size);
  return { w, script };
};

describe('Law 1: only a source that is known as a whole takes anything away', () => {
  const nobody = { members: [], departures: [] };
  test.each<[string, () => Promise<Members>]>([
    ['unknown', async () => ({ kind: 'members', membership: { kind: 'unknown', reason: 'no look yet' }, ...nobody })],
    ['partial', async () => ({ kind: 'members', membership: { kind: 'partial', reason: 'a part' }, ...nobody })],
    ['unreachable', async () => Promise.reject(new AppError('RPC_TIMEOUT', 'no answer'))],
    ['silent for ever (E-14)', () => new Promise(() => {})],
    ['undecodable', async () => ({ kind: 'garbage' }) as never],
    ['unchanged to a digest that it was not sent', async () => ({ kind: 'unchanged', digest: 'other' })],
  ])('%s: nothing is destroyed, and a condition says why', async (_, answer) => {
    const { w, script } = await enrolledWorld();
    script.answer = answer;
    await w.scale('cattle', 2);
    await w.run(60_000);
    expect(w.enrolled()).toHaveLength(10);
    expect(condition(w, 'SourceKnown')).toMatchObject({ isTrue: false });
    expect(condition(w, 'SourceKnown')?.reason).not.toBe('');
    script.answer = undefined;
    await w.run();
    expect(w.enrolled()).toHaveLength(2);
    await w.stop();
  });

  test('a group plugin that is away is a live wait; it is looked at as soon as it is back (E-14)', async () => {
    const { w } = await enrolledWorld();
    w.withdraw('mystack/cattle');
    await w.run(60_000);
    expect(w.enrolled()).toHaveLength(10);
    expect(condition(w, 'SourceKnown')?.reason).toContain('nothing answers to mystack/cattle');
    await w.scale('cattle', 12);
    w.serveGroup('cattle');
    await w.soon();
    expect(w.enrolled()).toHaveLength(12);
    await w.stop();
  });

  test('a group that is not there yet is waited for', async () => {
    const w = await enrollmentWorld();
    await w.commit(cattleNfs());
    await w.run();
    expect(w.enrolled()).toEqual([]);
    const members = await w.makeGroup('cattle', 3);
    await w.soon();
    expect(w.enrolled()).toEqual(members);
    await w.stop();
  });

  test('a freed group is unknown: its entries stay', async () => {
    const { w } = await enrolledWorld();
    await w.group.free({ name: 'cattle' }, w.ctx);
    await w.run(60_000);
    expect(w.enrolled()).toHaveLength(10);
    await w.stop();
  });
});

describe('Law 2: a known-empty source empties the sink', () => {
  test('target 0', async () => {
    const { w } = await enrolledWorld();
    await w.scale('cattle', 0);
    await w.soon();
    expect(w.enrolled()).toEqual([]);
    await w.stop();
  });

  test('a destroyed group', async () => {
    const { w } = await enrolledWorld();
    await w.group.destroy({ name: 'cattle' }, w.ctx);
    await w.soon();
    expect(w.enrolled()).toEqual([]);
    await w.stop();
  });
});

describe('Law 6: who left by an act of the group is explained, who vanished is not', () => {
  test('E-11: half of the members vanish: nothing is destroyed, the rule is held, approve lets it through', async () => {
    const { w } = await enrolledWorld();
    const gone = w.machines.members('cattle').slice(0, 5);
    for (const id of gone) w.machines.vanish('cattle', id);
    await w.run();
    expect(w.enrolled()).toEqual(expect.arrayContaining(gone));
    expect(condition(w, 'Held')).toMatchObject({ isTrue: true });
    const rows = (await w.describe('cattle-nfs'))[0]?.state as { State: string; Data: { held?: string } }[];
    expect(rows.filter(({ State, Data }) => State === 'removing' && Data.held !== undefined)).toHaveLength(5);
    await w.controller().approve({ name: 'cattle-nfs' }, w.ctx);
    await w.soon();
    expect(w.enrolled()).toEqual(w.machines.members('cattle'));
    await w.stop();
  });

  test('a few that vanish and are replaced go within the budget', async () => {
    const { w } = await enrolledWorld();
    w.machines.vanish('cattle', w.machines.members('cattle')[0] ?? '');
    await w.run();
    expect(w.enrolled()).toEqual(w.machines.members('cattle'));
    await w.stop();
  });

  test('members destroyed by request are explained, also when the rule was not running meanwhile', async () => {
    const { w } = await enrolledWorld();
    await w.plugin().stop();
    await w.group.destroyInstances({ name: 'cattle', instances: w.machines.members('cattle').slice(0, 8) }, w.ctx);
    await w.restart();
    await w.commit(cattleNfs(), 1);
    await w.run();
    expect(w.enrolled()).toEqual(w.machines.members('cattle'));
    expect(w.enrolled()).toHaveLength(2);
    await w.stop();
  });

  test('the group forgets departures once they are settled here, and no sooner', async () => {
    const { w, script } = await enrolledWorld();
    const departures = async () => {
      const answer = await w.group.members({ name: 'cattle' }, w.ctx);
      return answer.kind === 'members' ? answer.departures.length : -1;
    };
    w.faults.destroy = { kind: 'error' };
    await w.scale('cattle', 8);
    await w.soon();
    expect(await departures()).toBe(2);
    w.faults.destroy = undefined;
    await w.run(10_000);
    expect(w.enrolled()).toHaveLength(8);
    expect(await departures()).toBe(0);
    await w.run();
    expect(script.asked.at(-1)).toHaveProperty('sinceRevision');
    await w.stop();
  });
});

describe('Law 3: a plan registers nothing', () => {
  test('departures are kept for rules that run, not for plans that were shown', async () => {
    const registered: string[] = [];
    const w = await enrollmentWorld({
      aroundGroup: (group) => ({
        ...group,
        registerConsumer: (params, ctx) => {
          registered.push(`+${params.consumer}`);
          return group.registerConsumer(params, ctx);
        },
        unregisterConsumer: (params, ctx) => {
          registered.push(`-${params.consumer}`);
          return group.unregisterConsumer(params, ctx);
        },
      }),
    });
    await w.makeGroup('cattle', 3);
    await w.makeGroup('miners', 3);
    await w.plan(cattleNfs());
    expect(registered).toEqual([]);
    await w.commit(cattleNfs());
    await w.run();
    expect(registered).toEqual(['+stack/nfs/cattle-nfs']);
    await w.commit(cattleNfs({ options: { Order: 'removes-first' } }));
    await w.run();
    expect(new Set(registered)).toEqual(new Set(['+stack/nfs/cattle-nfs']));
    await w.commit(cattleNfs({ List: 'mystack/miners' }));
    await w.run();
    expect(registered.at(-2)?.slice(0, 1)).toBe('-');
    await w.during(w.controller().destroy({ name: 'cattle-nfs' }, w.ctx));
    expect(registered.at(-1)).toBe('-stack/nfs/cattle-nfs');
    await w.stop();
  });
});

describe('DESIGN §3: a managed group that is named directly', () => {
  test('is told of its consumer through its manager, so that departures are kept', async () => {
    const w = await enrollmentWorld();
    await w.makeGroup('cattle', 5);
    const refuse = async (): Promise<never> => {
      const facts = { name: 'group/cattle', proxy: 'mystack/cattle' };
      throw new AppError('OBJECT_MANAGED', 'group/cattle is managed', { facts });
    };
    const managed = { ...w.group, registerConsumer: refuse, acknowledge: refuse, unregisterConsumer: refuse };
    w.serve('group/cattle', groupInterface, managed, 'group');
    await w.commit(cattleNfs({ List: 'group/cattle' }));
    await w.soon();
    w.faults.destroy = { kind: 'error' };
    await w.scale('cattle', 1);
    await w.soon();
    const kept = async () => {
      const answer = await w.group.members({ name: 'cattle' }, w.ctx);
      return answer.kind === 'members' ? answer.departures.length : -1;
    };
    expect(await kept()).toBe(4);
    w.faults.destroy = undefined;
    await w.run(20_000);
    expect(w.enrolled()).toHaveLength(1);
    expect(await kept()).toBe(0);
    await w.stop();
  });
});

describe('what a source tells', () => {
  test('Law 8: while nothing changes, members are asked for by digest and the sink answers unchanged', async () => {
    const { w, script } = await enrolledWorld();
    await w.run(20_000);
    const [asked, described] = [script.asked.length, w.describes().length];
    await w.run(60_000);
    expect(script.asked.length - asked).toBeGreaterThanOrEqual(8);
    expect(
      script.asked.slice(asked).every((params) => typeof params === 'object' && params !== null && 'digest' in params),
    ).toBe(true);
    expect(
      w
        .describes()
        .slice(described)
        .every((one) => one.call === 'describe' && one.answer === 'unchanged'),
    ).toBe(true);
    await w.stop();
  });

  test('the digest of a listing is not sent after a write of ours', async () => {
    const { w } = await enrolledWorld();
    await w.run();
    expect(w.describes().at(-1)).toMatchObject({ hasDigest: true });
    const before = w.describes().length;
    await w.scale('cattle', 11);
    await w.clock.advance(900);
    expect(w.describes().slice(before)).toMatchObject([{ hasDigest: true }, { hasDigest: false }]);
    await w.stop();
  });

  test('a group that is made anew counts from the beginning: what left it is explained again', async () => {
    const { w } = await enrolledWorld();
    await w.scale('cattle', 8);
    await w.run();
    const other = await enrollmentWorld();
    await other.makeGroup('cattle', 4);
    w.serve('mystack/cattle', groupInterface, other.group, 'group');
    await w.run();
    await other.scale('cattle', 1);
    await w.run();
    expect(condition(w, 'SourceKnown')).toMatchObject({ isTrue: true });
    // Both count their machines from 1: 1 to 3 left the new group by an act of its own, 5 to 10 are missing without a word.
    expect(w.enrolled()).toEqual([4, 5, 6, 7, 8, 9, 10].map((n) => `machine-${String(n).padStart(6, '0')}`));
    await w.stop();
  });
});

describe('DESIGN §4: rules that share a sink', () => {
  test('rules on one sink and filter share the describe that one event makes necessary', async () => {
    const w = await enrollmentWorld();
    await w.makeGroup('cattle', 3);
    const options = { SyncInterval: '1h' };
    for (const name of ['a', 'b', 'c']) await w.commit(cattleNfs({ name, options }));
    await w.run();
    w.faults.describe = { kind: 'late', ms: 20 };
    const before = w.describes().length;
    await w.scale('cattle', 5);
    await w.run();
    for (const name of ['a', 'b', 'c']) expect(w.enrolled(name)).toHaveLength(5);
    // One before the acts, one to see them done.
    expect(w.describes().length - before).toBe(2);
    await w.stop();
  });
});

describe('Law 7, Law 10: answers that are lost or never come', () => {
  test('a Provision whose answer is lost is not made twice', async () => {
    const w = await enrollmentWorld();
    const members = await w.makeGroup('cattle', 5);
    w.faults.provision = { kind: 'lose-answer' };
    await w.commit(cattleNfs());
    await w.run();
    w.faults.provision = undefined;
    await w.run(60_000);
    expect(w.enrolled()).toEqual(members);
    expect(w.world.made()).toBe(5);
    await w.stop();
  });

  test('a sink that hangs holds up neither another rule nor a stop for longer than a deadline', async () => {
    const w = await enrollmentWorld();
    w.faults.provision = ({ spec: { Tags } }) =>
      Tags['infrakit.enrollment.name'] === 'a' ? { kind: 'timeout' } : undefined;
    const many = Array.from({ length: 200 }, (_, n) => ({ ID: `h${n}` }));
    await w.commit(cattleNfs({ name: 'a', List: many }));
    await w.soon();
    await w.commit(cattleNfs({ name: 'b', List: many }));
    await w.run(3_000);
    expect(w.enrolled('b')).toHaveLength(200);
    await w.stop();
  });
});
