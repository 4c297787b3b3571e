import fc from 'fast-check';
import { generate, parser } from 'mqtt-packet';
import { describe, expect, test } from 'vitest';
import { publishWindow } from '../link/publish-window.ts';
import { type RouteMap, routeCounter } from '../mirror/route.ts';
import { noLimits } from './broker-limits.ts';
import { frameCutter } from './frame-cutter.ts';
import { messageAcks } from './message-acks.ts';
import { messageRewriter } from './message-rewriter.ts';
import { publishRewriter } from './publish-rewriter.ts';

const map: RouteMap = (topic) => ({
  topic: `to/${topic}`,
  retain: 'keep',
  maxBytes: 1_000,
  counter: routeCounter(),
});

const properties = fc.record(
  {
    payloadFormatIndicator: fc.boolean(),
    messageExpiryInterval: fc.nat(),
    contentType: fc.constantFrom('', 'text/plain'),
    responseTopic: fc.constantFrom('a/b'),
    correlationData: fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
    userProperties: fc.constantFrom<Record<string, string | string[]>>({ a: 'b' }, { a: ['b', 'c'], ü: '' }),
    subscriptionIdentifier: fc.integer({ min: 1, max: 300 }),
    topicAlias: fc.integer({ min: 1, max: 300 }),
  },
  { requiredKeys: [] },
);

const publishFrame = fc
  .tuple(
    fc.constantFrom('', 'a', 'a/b'),
    fc.constantFrom<0 | 1 | 2>(0, 1, 2),
    fc.integer({ min: 1, max: 65_535 }),
    properties,
    fc.uint8Array({ maxLength: 40 }),
  )
  .map(([topic, qos, messageId, given, payload]) =>
    generate(
      {
        cmd: 'publish',
        topic: topic === '' ? 'x' : topic,
        qos,
        messageId,
        dup: false,
        retain: false,
        payload: Buffer.from(payload),
        properties: given,
      },
      { protocolVersion: 5 },
    ),
  );
const ackFrames = fc
  .tuple(fc.constantFrom(0x40, 0x50, 0x62, 0x70), fc.integer({ min: 0, max: 65_535 }), fc.uint8Array({ maxLength: 6 }))
  .map(([type, id, more]) => Buffer.from([type, 2 + more.length, id >> 8, id & 0xff, ...more]));

/** Frames in a row with a few of their bytes changed, cut somewhere. */
const damaged = (frame: fc.Arbitrary<Buffer>) =>
  fc
    .tuple(
      fc.array(frame, { minLength: 1, maxLength: 8 }),
      fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { maxLength: 4 }),
      fc.nat(),
    )
    .map(([frames, changes, cut]) => {
      const bytes = Buffer.concat(frames);
      for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
      const place = cut % bytes.length;
      return [bytes.subarray(0, place), bytes.subarray(place)].filter((chunk) => chunk.length > 0);
    });

/** What went on is whole frames of MQTT, whatever is in them. */
const expectFrames = (bytes: Buffer): void => {
  let taken = 0;
  frameCutter({ maxBytes: 1_000_000 })(Buffer.from(bytes), (_, start, __, end) => {
    expect(start).toBe(taken);
    taken = end;
  });
  expect(taken).toBe(bytes.length);
};

const speakers = [
  ['3.1.1 to 3.1.1', 4, 4],
  ['3.1.1 to 5', 4, 5],
  ['5 to 3.1.1', 5, 4],
  ['5 to 5', 5, 5],
] as const;

describe.each(speakers)('from %s', (_, source, sink) => {
  const terms = { source, sink, limits: noLimits, maxHops: 8 };
  const make = () => {
    const window = publishWindow(20, 1);
    return source === 4 && sink === 4 ? publishRewriter(map, window) : messageRewriter(map, { ...terms, window });
  };

  test('damaged messages either go on as whole frames or end the stream with an error of ours', () => {
    fc.assert(
      fc.property(damaged(fc.oneof(publishFrame, ackFrames)), (chunks) => {
        const rewriter = make();
        const cut = frameCutter({ maxBytes: 400, tooLarge: rewriter.tooLarge });
        const out: Buffer[] = [];
        try {
          for (const chunk of chunks) {
            cut(Buffer.from(chunk), (buffer, start, body, end) => {
              const type = (buffer[start] ?? 0) >> 4;
              if (type === 3 || type === 6) rewriter.frame(buffer, start, body, end);
            });
            const { forward, back } = rewriter.take();
            for (const bytes of [forward, back]) if (bytes !== null) out.push(Buffer.from(bytes));
          }
        } catch (error) {
          expect(error).toMatchObject({ name: 'AppError' });
        }
        expectFrames(Buffer.concat(out));
      }),
      { numRuns: 2_000 },
    );
  });

  test('so do damaged acknowledgements, also of what was never sent', () => {
    fc.assert(
      fc.property(damaged(ackFrames), (chunks) => {
        const { acknowledged } = messageRewriter(map, { ...terms, window: publishWindow(20, 1) });
        const acks = messageAcks(400, { version: sink, acknowledged, other: () => undefined });
        const out: Buffer[] = [];
        try {
          for (const chunk of chunks) {
            const back = acks.chunk(Buffer.from(chunk));
            if (back !== null) out.push(Buffer.from(back));
          }
        } catch (error) {
          expect(error).toMatchObject({ name: 'AppError' });
        }
        expectFrames(Buffer.concat(out));
      }),
      { numRuns: 2_000 },
    );
  });
});

test('of undamaged messages of MQTT 5 all that goes on can be read by others', () => {
  fc.assert(
    fc.property(fc.array(publishFrame, { minLength: 1, maxLength: 8 }), (frames) => {
      const rewriter = messageRewriter(map, { source: 5, sink: 5, limits: noLimits, maxHops: 8, window: null });
      frameCutter({ maxBytes: 10_000 })(Buffer.concat(frames), rewriter.frame);
      const { forward } = rewriter.take();
      const topics: string[] = [];
      const reader = parser({ protocolVersion: 5 });
      reader.on('packet', (packet) => packet.cmd === 'publish' && topics.push(packet.topic));
      reader.on('error', (error: unknown) => {
        throw error;
      });
      reader.parse(forward ?? Buffer.alloc(0));
      expect(topics).toHaveLength(frames.length);
      expect(topics.every((topic) => topic.startsWith('to/'))).toBe(true);
    }),
  );
});
