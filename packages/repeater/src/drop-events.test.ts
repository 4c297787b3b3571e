import type { Event } from '@infrakit/core';
import { virtualClock } from '@infrakit/runtime';
import { expect, test } from 'vitest';
import { dropEvents } from './drop-events.ts';
import { Mirror } from './mirror/mirror.ts';
import type { MirrorDrops } from './mirror/mirror-engine.ts';
import type { MirrorRecord } from './mirror/mirror-table.ts';

const record = (ID: string, tags: Readonly<Record<string, string>> = {}): MirrorRecord => ({
  ID,
  LogicalID: null,
  Tags: { ...tags },
  mirror: Mirror.parse({ Source: 'time', Sink: {}, sourcetopic: 'timer/' }),
  lanes: [0],
  createdMs: 0,
});
const ofSpec = { 'infrakit.enrollment.owner': 'stack/repeater/out', 'infrakit.enrollment.sourceID': 'timer/' };
const ofOther = { 'infrakit.enrollment.owner': 'stack/enrollment/e', 'infrakit.enrollment.sourceID': 'm1' };

const scene = () => {
  const clock = virtualClock();
  const drops = new Map<MirrorRecord, MirrorDrops>();
  const events: Event[] = [];
  const stop = dropEvents({
    drops: () => [...drops].map(([one, counts]) => ({ record: one, ...counts })),
    ownerPrefix: 'stack/repeater/',
    topicObject: 'topic',
    publish: (event) => events.push(event),
    clock,
  });
  return { clock, drops, events, stop };
};

test('drops of a rule are one event in a second, with how many they were; without new ones there is none', async () => {
  const { clock, drops, events, stop } = scene();
  const one = record('a', ofSpec);
  drops.set(one, { dropped: 2, overflowed: 0 });
  await clock.advance(500);
  drops.set(one, { dropped: 5, overflowed: 1 });
  await clock.advance(500);
  await clock.advance(3_000);
  drops.set(one, { dropped: 6, overflowed: 2 });
  await clock.advance(1_000);
  expect(events).toMatchObject([
    {
      Topic: 'out/dropped',
      Type: 'Dropped',
      ID: 'out/timer/',
      Data: { sourcetopic: 'timer/', dropped: 5, overflowed: 1, total: 5 },
    },
    { Data: { dropped: 1, overflowed: 1, total: 6 } },
  ]);
  stop();
});

test('each rule is told of by itself; mirrors of nobody, or of another controller, by their ID', async () => {
  const { clock, drops, events, stop } = scene();
  drops.set(record('a', ofSpec), { dropped: 1, overflowed: 0 });
  drops.set(record('b'), { dropped: 1, overflowed: 0 });
  drops.set(record('c', ofOther), { dropped: 1, overflowed: 0 });
  await clock.advance(1_000);
  expect(events.map(({ Topic, ID }) => `${Topic} ${ID}`)).toEqual([
    'out/dropped out/timer/',
    'topic/dropped topic/b',
    'topic/dropped topic/c',
  ]);
  stop();
});

test('what was dropped last is told at the end, and nothing is after it', async () => {
  const { clock, drops, events, stop } = scene();
  drops.set(record('a', ofSpec), { dropped: 1, overflowed: 1 });
  stop();
  expect(events).toHaveLength(1);
  await clock.advance(5_000);
  expect(events).toHaveLength(1);
  expect(clock.pending()).toBe(0);
});
