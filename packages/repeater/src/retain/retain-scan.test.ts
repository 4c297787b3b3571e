import { AppError } from '@infrakit/core';
import { describe, expect, test } from 'vitest';
import { recordingLog } from '../../../../test/host/recording-log.ts';
import { routeCounter } from '../mirror/route.ts';
import { openRetainMemory, type RetainMemory } from './retain-memory.ts';
import { type RetainScanDeps, retainScan } from './retain-scan.ts';
import type { RetainedVisitor } from './retained-reader.ts';

/** A source and a sink in memory. */
interface World {
  readonly source: Map<string, string>;
  readonly sink: Map<string, string>;
  readonly memory: RetainMemory;
  readonly counter: ReturnType<typeof routeCounter>;
  /** What is written to the sink, in order. */
  readonly writes: string[];
  /** Topics that the source forgets to tell when it is asked for all. */
  readonly hidden: Set<string>;
  /** Is done when a scan reads, before it is told anything. */
  reading: (filters: readonly string[], visitor: RetainedVisitor) => void;
  /** Is done when a scan has written. */
  wrote: (topic: string, visitor: RetainedVisitor) => void;
  readonly scan: (more?: Partial<RetainScanDeps>) => ReturnType<typeof retainScan>;
}

const newWorld = async (): Promise<World> => {
  let visitor: RetainedVisitor | null = null;
  const told = (): RetainedVisitor => {
    if (visitor === null) throw new Error('nobody reads');
    return visitor;
  };
  const counter = routeCounter();
  const world: World = {
    source: new Map(),
    sink: new Map(),
    memory: await openRetainMemory(null, recordingLog().log),
    counter,
    writes: [],
    hidden: new Set(),
    reading: () => undefined,
    wrote: () => undefined,
    scan: (more) =>
      retainScan({
        filter: 's/#',
        map: (topic) =>
          topic.startsWith('s/no')
            ? null
            : { topic: `m/${topic}`, retain: 'if-told', maxBytes: 100, counter, form: (payload) => payload },
        memory: world.memory,
        openReader: async (given) => {
          visitor = given;
          return {
            read: async (filters) => {
              world.reading(filters, given);
              const isAll = filters[0] === 's/#';
              for (const [topic, payload] of world.source) {
                const isAsked = isAll ? !world.hidden.has(topic) : filters.includes(topic);
                if (isAsked) given.retained(topic, Buffer.from(payload));
              }
            },
            pause: () => undefined,
            resume: () => undefined,
            close: async () => undefined,
          };
        },
        openWriter: async () => ({
          write: async (topic, payload) => {
            world.writes.push(`${topic} ${payload}`);
            if (payload.length === 0) world.sink.delete(topic);
            else world.sink.set(topic, payload.toString());
            world.wrote(topic, told());
            return null;
          },
          close: async () => undefined,
        }),
        ...more,
      }),
  };
  return world;
};

const lost = new AppError('BUS_UNAVAILABLE', 'gone');

describe('a scan of what is retained', () => {
  test('writes what is new or another, removes what is gone, and nothing when nothing changed', async () => {
    const world = await newWorld();
    for (const topic of ['s/a', 's/b', 's/c']) world.source.set(topic, '1');
    await expect(world.scan()).resolves.toEqual({ topics: 3, written: 3, removed: 0, leftOut: 0 });
    await expect(world.scan()).resolves.toEqual({ topics: 3, written: 0, removed: 0, leftOut: 0 });
    world.source.delete('s/a');
    world.source.set('s/b', '2');
    world.source.set('s/no', '2');
    await expect(world.scan()).resolves.toEqual({ topics: 2, written: 1, removed: 1, leftOut: 0 });
    expect([...world.sink]).toEqual([
      ['m/s/b', '2'],
      ['m/s/c', '1'],
    ]);
    expect(world.counter).toMatchObject({ messages: 4, dropped: 0 });
  });

  test('Law 1: a topic that was only not told is there when it is asked for by its name', async () => {
    const world = await newWorld();
    for (const topic of ['s/a', 's/b']) world.source.set(topic, '1');
    await world.scan();
    world.hidden.add('s/a');
    await expect(world.scan()).resolves.toMatchObject({ topics: 2, removed: 0 });
    expect(world.sink.size).toBe(2);
  });

  test('Law 1: cut short while all is told, or while it is asked by name, it removes nothing', async () => {
    for (const isCut of [
      (filters: readonly string[]) => filters[0] === 's/#',
      (filters: readonly string[]) => filters[0] !== 's/#',
    ]) {
      const world = await newWorld();
      world.source.set('s/a', '1');
      await world.scan();
      world.source.clear();
      world.reading = (filters) => {
        if (isCut(filters)) throw lost;
      };
      await expect(world.scan()).rejects.toBe(lost);
      expect(world.sink.size).toBe(1);
      world.reading = () => undefined;
      await world.scan();
      expect(world.sink.size).toBe(0);
    }
  });

  test('what the sink has not acknowledged is written again, and removed when it is gone: it was noted before', async () => {
    const world = await newWorld();
    world.source.set('s/a', '1');
    const openWriter = async () => ({
      write: async (topic: string, payload: Buffer): Promise<null> => {
        world.sink.set(topic, payload.toString());
        throw lost;
      },
      close: async () => undefined,
    });
    await expect(world.scan({ openWriter })).rejects.toBe(lost);
    expect(world.sink.size).toBe(1);
    await expect(world.scan()).resolves.toMatchObject({ written: 1 });
    world.source.clear();
    await expect(world.scan({ openWriter: async () => Promise.reject(lost) })).rejects.toBe(lost);
    await world.scan();
    expect(world.sink.size).toBe(0);
  });

  test('Law 8: a topic that changes while it is looked at ends with what it is at last', async () => {
    const world = await newWorld();
    world.source.set('s/a', '1');
    world.wrote = (topic, { live }) => {
      if (topic !== 'm/s/a' || world.source.get('s/a') !== '1') return;
      world.source.set('s/a', '2');
      live('s/a');
    };
    await world.scan();
    expect(world.writes).toEqual(['m/s/a 1', 'm/s/a 2']);
    expect(world.sink.get('m/s/a')).toBe('2');

    // One that comes back at the moment when it is removed.
    world.source.delete('s/a');
    world.wrote = (topic, { live }) => {
      if (world.source.has('s/a')) return;
      world.source.set('s/a', '3');
      live('s/a');
      expect(topic).toBe('m/s/a');
    };
    await world.scan();
    expect(world.sink.get('m/s/a')).toBe('3');
  });

  test('of two topics that go to one place the removal of one does not take the other away', async () => {
    const world = await newWorld();
    const { counter } = world;
    const map = () => ({ topic: 'm/one', retain: 'if-told' as const, maxBytes: 100, counter });
    world.source.set('s/a', '1');
    world.source.set('s/b', '2');
    await world.scan({ map });
    world.source.delete('s/a');
    await world.scan({ map });
    await world.scan({ map });
    expect([...world.sink]).toEqual([['m/one', '2']]);
  });

  test('what the sink will never take is counted once, not with every scan', async () => {
    const world = await newWorld();
    world.source.set('s/a', '1');
    const openWriter = async () => ({ write: async () => 'no', close: async () => undefined });
    for (let n = 0; n < 3; n += 1) await world.scan({ openWriter });
    expect(world.counter).toMatchObject({ messages: 0, dropped: 1, lastDrop: 'no' });
  });

  test('more topics than can be remembered are left alone, and told', async () => {
    const world = await newWorld();
    world.source.set('s/a', '1');
    world.source.set('s/b', '1');
    const memory = { ...world.memory, isFull: () => world.memory.topics().length >= 1 };
    await expect(world.scan({ memory })).resolves.toMatchObject({ topics: 1, leftOut: 1 });
    world.source.delete('s/b');
    await world.scan({ memory });
    expect([...world.sink]).toEqual([['m/s/a', '1']]);
  });
});
