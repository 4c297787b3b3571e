import { generate, type Packet } from 'mqtt-packet';
import { expect, test } from 'vitest';
import { type RouteMap, routeCounter } from '../mirror/route.ts';
import { noLimits } from '../wire/broker-limits.ts';
import { frameCutter } from '../wire/frame-cutter.ts';
import { messageRewriter } from '../wire/message-rewriter.ts';
import { packetType } from '../wire/mqtt-frame.ts';
import { publishRewriter } from '../wire/publish-rewriter.ts';
import { publishWindow } from './publish-window.ts';

const map: RouteMap = (topic) => ({ topic, retain: 'keep', maxBytes: 1_000, counter: routeCounter() });

test.each([
  ['as they stand', () => publishRewriter(map, publishWindow(2, 2))],
  [
    'one by one',
    () => messageRewriter(map, { source: 4, sink: 4, limits: noLimits, maxHops: 8, window: publishWindow(2, 2) }),
  ],
])(
  'QoS 2, frames %s: what an earlier connection left to be released counts until it is completed (issue 6)',
  (_, make) => {
    const rewriter = make();
    const cut = frameCutter({ maxBytes: 1_000 });
    /** The types of the frames that go to the sink. */
    const toSink = (): number[] => {
      const types: number[] = [];
      frameCutter({ maxBytes: 1_000 })(rewriter.take().forward ?? Buffer.alloc(0), (buffer, start) => {
        types.push((buffer[start] ?? 0) >> 4);
      });
      return types;
    };
    const send = (packet: Packet): number[] => {
      cut(generate(packet), rewriter.frame);
      return toSink();
    };
    const message = (messageId: number): Packet =>
      ({ cmd: 'publish', topic: 'a', payload: '', qos: 2, dup: true, retain: false, messageId }) as const;
    const { publish, pubrel } = packetType;
    // As many as may be under way, and one more, were received on the connection before.
    for (const messageId of [1, 2, 3]) expect(send({ cmd: 'pubrel', messageId })).toEqual([pubrel]);
    expect([send(message(4)), send(message(5))]).toEqual([[], []]);
    rewriter.completed(1);
    expect(toSink()).toEqual([]);
    rewriter.completed(2);
    expect(toSink()).toEqual([publish]);
    // One of this connection counts once.
    expect(send({ cmd: 'pubrel', messageId: 4 })).toEqual([pubrel]);
    rewriter.completed(4);
    expect(toSink()).toEqual([publish]);
  },
);
