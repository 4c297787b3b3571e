import { type ISubscribePacket, type IUnsubscribePacket, parser } from 'mqtt-packet';
import { describe, expect, test } from 'vitest';
import { linkSubscriptions } from './link-subscriptions.ts';

const begin = (before: readonly string[] = [], version: 4 | 5 = 4) => {
  const asked: string[] = [];
  const ids: number[] = [];
  const reader = parser({ protocolVersion: version });
  reader.on('packet', (packet) => {
    if (packet.cmd === 'subscribe') {
      const { subscriptions, messageId } = packet as ISubscribePacket;
      ids.push(messageId ?? 0);
      asked.push(`+ ${subscriptions.map(({ topic, qos }) => `${topic} ${qos}`).join(', ')}`);
    } else if (packet.cmd === 'unsubscribe')
      asked.push(`- ${(packet as IUnsubscribePacket).unsubscriptions.join(', ')}`);
  });
  const subscriptions = linkSubscriptions(new Set(before), { version, send: (frame) => void reader.parse(frame) });
  const want = (...filters: readonly string[]) => subscriptions.want(filters.map((filter) => ({ filter, qos: 1 })));
  return { subscriptions, want, asked, ids };
};

describe('subscriptions of one connection', () => {
  test.each([4, 5] as const)('MQTT %i: only what changes is said, and what is added before what goes', (version) => {
    const { subscriptions, want, asked, ids } = begin([], version);
    want('a', 'b');
    subscriptions.answered(ids[0] ?? 0, Buffer.from([1, 1]));
    want('a', 'b');
    want('b', 'c');
    expect(asked).toEqual(['+ a 1, b 1', '+ c 1', '- a']);
    expect([...subscriptions.known()]).toEqual(['b']);
  });

  test('what the source still knows from before is not asked for again; what is not wanted any more is given up', () => {
    const { subscriptions, want, asked } = begin(['kept', 'old']);
    want('kept', 'new');
    expect(asked).toEqual(['+ new 1', '- old']);
    expect(subscriptions.stateOf('kept')).toBe('granted');
    expect(subscriptions.stateOf('new')).toBe('asked');
  });

  test('each filter of an answer is granted or refused for itself; an answer that is too short refuses', () => {
    const { subscriptions, want, ids } = begin();
    want('a', 'b', 'c');
    subscriptions.answered(ids[0] ?? 0, Buffer.from([0, 0x80]));
    expect(['a', 'b', 'c', 'd'].map(subscriptions.stateOf)).toEqual(['granted', 'refused', 'refused', 'none']);
    subscriptions.answered(99, Buffer.from([0]));
    expect([...subscriptions.known()]).toEqual(['a']);
  });

  test('an answer that comes when a filter is not wanted any more changes nothing', () => {
    const { subscriptions, want, ids } = begin();
    want('a');
    want();
    subscriptions.answered(ids[0] ?? 0, Buffer.from([1]));
    expect(subscriptions.stateOf('a')).toBe('none');
  });

  test('a thousand filters go in packets of a hundred, under ids of their own', () => {
    const { want, asked, ids } = begin();
    want(...Array.from({ length: 1_000 }, (_, n) => `f/${n}`));
    expect(asked).toHaveLength(10);
    expect(new Set(ids).size).toBe(10);
  });
});
