import { describe, expect, test } from 'vitest';
import { type GroupWorld, groupWorld, sizedSpec } from './group-world.ts';

/** A group world whose process is killed after its `killAt`th act, the answer of which is lost. */
const mortal = (killAt: number, hasKeys = true) => {
  let count = 0;
  let isDead = false;
  const at: GroupWorld = groupWorld({
    hasKeys,
    around: async (_call, act) => {
      if (isDead) return new Promise(() => undefined);
      count += 1;
      const own = count;
      const answer = await act();
      if (own !== killAt) return answer;
      isDead = true;
      return new Promise(() => undefined);
    },
  });
  const revive = (): void => {
    isDead = false;
  };
  return { at, isDead: () => isDead, calls: () => count, revive };
};

interface Story {
  readonly name: string;
  readonly size: number;
  /** What happens to a group of three; it may be cut off at any call. */
  readonly run: (at: GroupWorld) => Promise<unknown>;
  /** What a manager replays after the crash, given that the story's own commit may or may not have been stored. */
  readonly replay: (at: GroupWorld) => Promise<unknown>;
  /** Why members leave in it. */
  readonly cause: 'scale' | 'update';
  /** The most members that may ever have been made. */
  readonly made: number;
}

const stories: readonly Story[] = [
  {
    name: 'a growth',
    size: 5,
    run: (at) => at.group().commit({ spec: sizedSpec('cattle', 5), revision: 2 }, at.ctx),
    replay: (at) => at.commit(sizedSpec('cattle', 5), 2),
    cause: 'scale',
    made: 5,
  },
  {
    name: 'a shrink',
    size: 1,
    run: (at) => at.group().commit({ spec: sizedSpec('cattle', 1), revision: 2 }, at.ctx),
    replay: (at) => at.commit(sizedSpec('cattle', 1), 2),
    cause: 'scale',
    made: 3,
  },
  {
    name: 'an update',
    size: 3,
    run: (at) => at.group().commit({ spec: sizedSpec('cattle', 3, 2), revision: 2 }, at.ctx),
    replay: (at) => at.commit(sizedSpec('cattle', 3, 2), 2),
    cause: 'update',
    made: 6,
  },
];

const _playUntilDead = async (_story: Story, killAt: number, hasKeys = true) => {
  const mortalWorld = mortal(Number.POSITIVE_INFINITY, hasKeys);
  const quiet = mortalWorld.at;
  await quiet.start();
  await quiet.commit(sizedSpec('cattle', 3));
  await quiet.run();
  await quiet.group().registerConsumer({ name: 'cattle', consumer: 'nfs' }, quiet.ctx);
  const base = mortalWorld.calls();
  return { base, killAt, quiet };
};

/** A group of three with a consumer. */
const begin = async (at: GroupWorld): Promise<void> => {
  await at.start();
  await at.commit(sizedSpec('cattle', 3));
  await at.run();
  await at.group().registerConsumer({ name: 'cattle', consumer: 'nfs' }, at.ctx);
};

/** How many calls it takes until a story begins. */
const prologue = async (): Promise<number> => {
  const { at, calls } = mortal(Number.POSITIVE_INFINITY);
  await begin(at);
  return calls();
};

describe('kill at any moment, then restart (Law 11)', () => {
  test.each(stories)('$name ends as wanted, whichever call is the last', async (story) => {
    const base = await prologue();
    let cuts = 0;
    for (let killAt = base + 1; killAt < base + 60; killAt += 1) {
      const { at, isDead, revive } = mortal(killAt);
      await begin(at);
      const before = at.ids();
      const { revision } = await at.known();
      story.run(at).catch(() => undefined);
      await at.run(3_000);
      if (!isDead()) break;
      cuts += 1;
      await at.kill();
      revive();
      await at.start();
      await story.replay(at);
      await at.run(60_000);
      const ids = at.ids();
      expect({ killAt, count: ids.length }).toEqual({ killAt, count: story.size });
      expect({ killAt, isOver: at.world.made() > story.made }).toEqual({ killAt, isOver: false });
      // Who was reported and is no more must be explained to whoever follows the group (Law 6).
      const { departures } = await at.whole('cattle', revision);
      const gone = before.filter((id) => !ids.includes(id));
      expect({ killAt, told: departures.map(({ ID }) => ID).sort() }).toEqual({ killAt, told: gone });
      expect(departures.every(({ Cause }) => Cause === story.cause)).toBe(true);
      expect(await at.state()).toMatchObject({ Converged: true });
    }
    expect(cuts).toBeGreaterThan(5);
  });

  test('a sink without idempotency keys ends with the size too, the surplus being ours (Law 7)', async () => {
    const base = await prologue();
    for (let killAt = base + 1; killAt < base + 20; killAt += 1) {
      const { at, isDead, revive } = mortal(killAt, false);
      await begin(at);
      const spec = sizedSpec('cattle', 5);
      at.group()
        .commit({ spec, revision: 2 }, at.ctx)
        .catch(() => undefined);
      await at.run(3_000);
      if (!isDead()) break;
      await at.kill();
      revive();
      await at.start();
      await at.commit(spec, 2);
      await at.run(60_000);
      expect({ killAt, count: at.ids().length }).toEqual({ killAt, count: 5 });
    }
  });

  test('a destroy goes on by itself after a crash at any call, to the tombstone (G-10)', async () => {
    const base = await prologue();
    let cuts = 0;
    for (let killAt = base + 1; killAt < base + 40; killAt += 1) {
      const { at, isDead, revive } = mortal(killAt);
      await begin(at);
      const before = at.ids();
      const destroyed = at.group().destroy({ name: 'cattle' }, at.ctx);
      destroyed.catch(() => undefined);
      await at.run(3_000);
      if (!isDead()) break;
      cuts += 1;
      await at.kill();
      revive();
      await at.start();
      await at.run(30_000);
      const isBegun = at.ids().length < before.length || (await at.whole()).membership.kind === 'known';
      // A destroy that never became durable was never answered either: it is asked for again.
      if (!isBegun) {
        await at.commit(sizedSpec('cattle', 3));
        await at.during(at.group().destroy({ name: 'cattle' }, at.ctx), 5_000);
      }
      const { membership, departures } = await at.whole();
      expect({ killAt, ids: at.ids(), membership }).toMatchObject({
        killAt,
        ids: [],
        membership: { kind: 'known', count: 0, target: 0, phase: 'destroyed' },
      });
      expect({ killAt, told: departures.map(({ ID }) => ID).sort() }).toEqual({ killAt, told: before });
    }
    expect(cuts).toBeGreaterThan(8);
  });

  test('what was set since the commit is still so, and condemned members go, after a crash right behind the answer', async () => {
    const at = groupWorld();
    await at.start();
    await at.commit(sizedSpec('cattle', 4));
    await at.run();
    const [victim = ''] = at.ids();
    expect(await at.group().destroyInstances({ name: 'cattle', instances: [victim] }, at.ctx)).toEqual({ size: 3 });
    await at.kill();
    expect(at.ids()).toContain(victim);
    await at.start();
    await at.commit(sizedSpec('cattle', 4));
    await at.run(30_000);
    expect(at.ids()).toHaveLength(3);
    expect(at.ids()).not.toContain(victim);
    expect(at.world.made()).toBe(4);
    await at.group().setSize({ name: 'cattle', size: 6 }, at.ctx);
    await at.kill();
    await at.start();
    await at.commit(sizedSpec('cattle', 4));
    await at.run(30_000);
    expect(at.ids()).toHaveLength(6);
  });

  test('a tombstone is durable, and a group that was not committed since the start is unknown, not gone', async () => {
    const at = groupWorld();
    await at.start();
    await at.commit(sizedSpec('cattle', 2));
    await at.commit(sizedSpec('pets', 2), 2);
    await at.run();
    await at.during(at.group().destroy({ name: 'cattle' }, at.ctx), 5_000);
    await at.kill();
    await at.start();
    expect((await at.whole()).membership).toMatchObject({ kind: 'known', count: 0, phase: 'destroyed' });
    expect((await at.whole('pets')).membership).toEqual({ kind: 'unknown', reason: 'not committed since the start' });
    expect(at.controller().names()).toEqual(['cattle', 'pets']);
    expect(await at.group().destroy({ name: 'cattle' }, at.ctx)).toEqual({ objects: [] });
    expect(await at.group().free({ name: 'cattle' }, at.ctx)).toEqual({ objects: [] });
    await at.run(60_000);
    expect(at.ids('pets')).toHaveLength(2);
  });

  test('a restart with all as it was makes nobody and tells of nobody as new', async () => {
    const at = groupWorld();
    await at.start();
    await at.commit(sizedSpec('cattle', 5));
    await at.run();
    const before = at.ids();
    await at.kill();
    at.told.events.length = 0;
    at.calls.length = 0;
    await at.start();
    at.offline.add('vanilla');
    await at.commit(sizedSpec('cattle', 5));
    at.offline.clear();
    await at.run(60_000);
    expect([at.ids(), at.told.events]).toEqual([before, []]);
    expect(new Set(at.calls)).toEqual(new Set(['describe']));
    expect((await at.whole()).members.map(({ Health }) => Health)).toEqual(before.map(() => 'healthy'));
  });
});
