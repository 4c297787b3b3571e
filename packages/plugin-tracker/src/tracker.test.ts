import type { Event } from '@infrakit/core';
import { virtualClock } from '@infrakit/runtime';
import { faulty, type InstanceFaults, memoryInstance, memoryWorld } from '@infrakit/spi';
import { describe, expect, test } from 'vitest';
import { startTracker } from './tracker.ts';

const track = (faults: InstanceFaults = {}) => {
  const clock = virtualClock();
  const world = memoryWorld();
  const instance = faulty(memoryInstance({ world }).instance, faults, { after: clock.after });
  const events: Event[] = [];
  const start = () =>
    startTracker({ name: 'simulator/compute', instance, tags: { team: 'ci' }, everyMs: 3_000 }, clock, (event) => {
      events.push(event);
    });
  const told = () => events.map(({ Topic, ID }) => `${Topic.split('/').at(-1)} ${ID}`);
  return { clock, world, events, told, start };
};

describe('the instance tracker (GP §3.4)', () => {
  test('a; a,b; b,c; b,c; error; b,c; b,c,d: found a, found b, lost a, found c, error, found d', async () => {
    const faults: InstanceFaults = {};
    const { clock, world, told, start } = track(faults);
    const add = () => world.addForeign({ team: 'ci' });
    const a = await add();
    const tracker = start();
    await clock.advance(1_000);
    const b = await add();
    await clock.advance(3_000);
    await world.removeBehind(a);
    const c = await add();
    await clock.advance(6_000);
    faults.describe = { kind: 'error' };
    await clock.advance(3_000);
    faults.describe = undefined;
    await clock.advance(3_000);
    const d = await add();
    await clock.advance(3_000);
    expect(told()).toEqual([`found ${a}`, `found ${b}`, `lost ${a}`, `found ${c}`, 'error error', `found ${d}`]);
    await tracker.stop();
    expect(clock.pending()).toBe(0);
  });

  test('GP-E15: what is lost is forgotten: it is found again when it comes again, and lost but once', async () => {
    const { clock, world, told, start } = track();
    const tracker = start();
    const ids: string[] = [];
    for (let round = 0; round < 50; round += 1) {
      const id = await world.addForeign({ team: 'ci' });
      ids.push(id);
      await clock.advance(3_000);
      await world.removeBehind(id);
      await clock.advance(6_000);
    }
    expect(told()).toEqual(ids.flatMap((id) => [`found ${id}`, `lost ${id}`]));
    await tracker.stop();
  });

  test('EI-V3, GP-E9: an error says what went wrong; a lost instance comes as it was last seen; others do not count', async () => {
    const faults: InstanceFaults = { describe: { kind: 'error' } };
    const { clock, world, events, start } = track(faults);
    const id = await world.addForeign({ team: 'ci' });
    await world.addForeign({ team: 'other' });
    const tracker = start();
    await clock.advance(100);
    expect(events[0]).toMatchObject({ Type: 'tracker', Error: expect.stringContaining('describe is refused') });
    faults.describe = undefined;
    await clock.advance(3_000);
    await world.removeBehind(id);
    await clock.advance(3_000);
    expect(events.slice(1).map(({ Topic }) => Topic)).toEqual(['simulator/compute/found', 'simulator/compute/lost']);
    expect(events.at(-1)).toMatchObject({ ID: id, Data: { ID: id, Tags: { team: 'ci' } } });
    await tracker.stop();
  });
});
