import { matchesFilter } from '@infrakit/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Retained, retainedMessages } from './broker-retained.ts';

const message = (topic: string, payload: string): Retained => ({ topic, qos: 1, payload: Buffer.from(payload) });

const open = (bounds: { maxMessages?: number; maxBytes?: number } = {}) => {
  const saved: string[] = [];
  const retained = retainedMessages({
    maxMessages: 1_000,
    maxBytes: 1_000_000,
    ...bounds,
    save: ({ topic, payload }) => void saved.push(`${topic}=${payload}`),
  });
  const found = async (...filters: string[]) =>
    (await retained.matching(filters).toArray()).map(({ topic, payload }: Retained) => `${topic}=${payload}`).sort();
  return { ...retained, found, saved };
};

describe('retained messages', () => {
  it('are replaced by the next, cleared by an empty payload [MQTT-3.3.1-10], and every change is saved in order', async () => {
    const { set, found, saved, count, bytes } = open();
    set(message('a/b', '1'));
    set(message('a/b', '2'));
    set(message('a/c', '3'));
    set(message('a/c', ''));
    expect(await found('#')).toEqual(['a/b=2']);
    expect([count(), bytes()]).toEqual([1, 4]);
    expect(saved).toEqual(['a/b=1', 'a/b=2', 'a/c=3', 'a/c=']);
  });

  it('are found by every filter that matches them and by no other, whatever shortcuts are taken', async () => {
    const level = fc.constantFrom('', 'a', 'ab', 'b', '$x');
    const topic = fc
      .array(level, { minLength: 1, maxLength: 4 })
      .map((levels) => levels.join('/'))
      .filter((text) => text !== '');
    const filter = fc
      .tuple(fc.array(fc.oneof(level, fc.constant('+')), { minLength: 1, maxLength: 4 }), fc.boolean())
      .map(([levels, isOpen]) => [...levels, ...(isOpen ? ['#'] : [])].join('/'))
      .filter((text) => text !== '');
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(topic, { maxLength: 20 }),
        fc.oneof(filter, fc.constant('#')),
        async (topics, wanted) => {
          const { set, found } = open();
          for (const each of topics) set(message(each, '1'));
          const matching = topics.filter((each) => matchesFilter(wanted, each));
          expect(await found(wanted)).toEqual(matching.map((each) => `${each}=1`).sort());
        },
      ),
    );
  });

  it('are bounded in number and bytes; what is there may still be replaced and cleared', () => {
    const few = open({ maxMessages: 1 });
    few.set(message('a', '1'));
    expect([few.hasRoomFor('b', 1), few.hasRoomFor('a', 9), few.hasRoomFor('b', 0)]).toEqual([false, true, true]);
    const small = open({ maxBytes: 10 });
    small.set(message('a', '12345'));
    expect([
      small.hasRoomFor('b', 3),
      small.hasRoomFor('b', 4),
      small.hasRoomFor('a', 9),
      small.hasRoomFor('a', 10),
    ]).toEqual([true, false, true, false]);
  });
});
