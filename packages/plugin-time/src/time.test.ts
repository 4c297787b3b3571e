import type { Event } from '@infrakit/core';
import { topicTree, virtualClock } from '@infrakit/runtime';
import {
  direct,
  type EventSubject,
  eventContract,
  eventInterface,
  type MetadataSubject,
  metadataContract,
  metadataInterface,
  realAfter,
  testingContext,
} from '@infrakit/spi';
import { describe, expect, test } from 'vitest';
import { contractTests } from '../../../test/contract.ts';
import { nowMetadata } from './now-metadata.ts';
import { periods, streams } from './periods.ts';
import { ticker } from './ticker.ts';
import { publishTicks } from './time-definition.ts';

const topics = streams.flatMap(({ topic }) => periods.map(({ leaf }) => `${topic}/${leaf}`));

contractTests(
  eventContract,
  async (): Promise<EventSubject & AsyncDisposable> => ({
    source: direct(
      eventInterface,
      topicTree(() => topics),
      { after: realAfter },
    ),
    branches: {
      '': ['streams', 'timer'],
      streams: ['msec', 'sec', 'min', 'hr'],
      timer: ['msec', 'sec', 'min', 'hr'],
      'streams/msec': ['100', '500'],
    },
    leaf: 'streams/sec/30',
    isEventuallyConsistent: false,
    [Symbol.asyncDispose]: async () => undefined,
  }),
);

contractTests(
  metadataContract,
  async (): Promise<MetadataSubject & AsyncDisposable> => ({
    metadata: direct(
      metadataInterface,
      nowMetadata(() => 1_500),
      { after: realAfter },
    ),
    known: [
      { path: 'now/sec', value: 1, keys: [] },
      { path: 'now/nano', value: 1_500_000_000, keys: [] },
    ],
    isEventuallyConsistent: false,
    [Symbol.asyncDispose]: async () => undefined,
  }),
);

describe('time events (GP §3.4)', () => {
  test('GP-E18: each period under both names, with its old id and its period in nanoseconds, the first after one period', async () => {
    const clock = virtualClock(1_700_000_000_000);
    const seen: Event[] = [];
    const stop = publishTicks({ clock, wallMs: clock.now }, { publish: (event) => seen.push(event) });
    await clock.advance(99);
    expect(seen).toEqual([]);
    await clock.advance(901);
    const count = (topic: string) => seen.filter(({ Topic }) => Topic === topic).length;
    expect([count('streams/msec/100'), count('timer/msec/500'), count('streams/sec/1')]).toEqual([10, 2, 1]);
    expect(seen.find(({ Topic }) => Topic === 'timer/sec/1')).toEqual({
      Topic: 'timer/sec/1',
      Type: 'timer',
      ID: '1sec',
      Message: '',
      Timestamp: '2023-11-14T22:13:21.000Z',
      Data: 1_000_000_000,
    });
    await clock.advance(3_600_000);
    expect(count('streams/hr/1')).toBe(1);
    const table = seen.filter(({ Topic }, at) => seen.findIndex((event) => event.Topic === Topic) === at);
    const rows = table.map(({ Topic, Type, ID, Data }) => `${Topic} ${Type} ${ID} ${Data}`);
    const expected = [
      ['msec/100', '100ms', 100_000_000],
      ['msec/500', '500ms', 500_000_000],
      ['sec/1', '1sec', 1_000_000_000],
      ['sec/5', '5s', 5_000_000_000],
      ['sec/30', '30s', 30_000_000_000],
      ['min/1', '1m', 60_000_000_000],
      ['min/5', '5m', 300_000_000_000],
      ['min/30', '30m', 1_800_000_000_000],
      ['hr/1', '1h', 3_600_000_000_000],
    ].flatMap(([leaf, id, ns]) => [`streams/${leaf} time ${id} ${ns}`, `timer/${leaf} timer ${id} ${ns}`]);
    expect(rows.sort()).toEqual(expected.sort());
    stop();
    expect(clock.pending()).toBe(0);
  });

  test('what nobody hears is not published, and its period rests; who comes later gets it on time within a second', async () => {
    const clock = virtualClock();
    const heard = new Set<string>();
    const [asked, seen]: [number[], string[]] = [[], []];
    const stop = publishTicks(
      { clock, wallMs: clock.now },
      {
        isHeard: (topic) => {
          if (topic === 'streams/msec/100') asked.push(clock.now());
          return heard.has(topic);
        },
        publish: ({ Topic }) => seen.push(`${Topic} ${clock.now()}`),
      },
    );
    await clock.advance(5_000);
    expect([seen, asked]).toEqual([[], [100, 1_100, 2_100, 3_100, 4_100]]);
    heard.add('timer/msec/100');
    await clock.advance(300);
    stop();
    expect(seen.filter((line) => line.startsWith('timer'))).toEqual([
      'timer/msec/100 5100',
      'timer/msec/100 5200',
      'timer/msec/100 5300',
    ]);
  });

  test('a tick says what the time is, also when that was set meanwhile, and comes when it is due all the same', async () => {
    const clock = virtualClock();
    let wallMs = 1_700_000_000_000;
    const seen: string[] = [];
    const stop = publishTicks(
      { clock, wallMs: () => wallMs },
      {
        publish: ({ Topic, Timestamp }) => void (Topic === 'streams/sec/1' && seen.push(Timestamp)),
      },
    );
    await clock.advance(1_000);
    wallMs -= 3_600_000;
    await clock.advance(1_000);
    stop();
    expect(seen).toEqual(['2023-11-14T22:13:20.000Z', '2023-11-14T21:13:20.000Z']);
  });

  test('after a time in which nothing ran there is one tick, not one for each that was missed', async () => {
    const clock = virtualClock();
    // Time passes for the process, and its timers come late.
    let stoppedMs = 0;
    const late = { now: () => clock.now() + stoppedMs, after: clock.after };
    const times: number[] = [];
    const tick = (): void => void times.push(late.now());
    const stop = ticker(late, { periodMs: 100, restMs: 1_000, isHeard: () => true, tick });
    await clock.advance(250);
    stoppedMs = 5_030;
    await clock.advance(250);
    stop();
    expect(times).toEqual([100, 200, 5_330, 5_400, 5_500]);
  });

  test('ticks do not drift with what each of them takes, and missed ones are left out', async () => {
    const clock = virtualClock();
    let lateMs = 7;
    const slow = { now: clock.now, after: (ms: number, call: () => void) => clock.after(ms + lateMs, call) };
    const times: number[] = [];
    const tick = (): void => void times.push(clock.now());
    const stop = ticker(slow, { periodMs: 100, restMs: 1_000, isHeard: () => true, tick });
    await clock.advance(1_010);
    expect(times).toEqual([107, 207, 307, 407, 507, 607, 707, 807, 907, 1007]);
    lateMs = 450;
    await clock.advance(2_000);
    stop();
    expect(times.slice(10).every((ms, at, all) => at === 0 || ms - (all[at - 1] ?? 0) >= 100)).toBe(true);
    expect(times.length).toBeLessThan(20);
  });

  test('metadata is evaluated on each read', async () => {
    let nowMs = 1_000;
    const metadata = nowMetadata(() => nowMs);
    const read = async () => (await metadata.get({ path: 'now/sec' }, testingContext())).value;
    expect(await read()).toBe(1);
    nowMs = 3_000;
    expect(await read()).toBe(3);
  });
});
