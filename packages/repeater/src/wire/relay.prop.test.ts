import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { generate, type IPublishPacket, type Packet, parser } from 'mqtt-packet';
import { describe, expect, test } from 'vitest';
import { publishWindow } from '../link/publish-window.ts';
import { type Route, type RouteMap, routeCounter } from '../mirror/route.ts';
import { ackFilter } from './ack-filter.ts';
import { noLimits } from './broker-limits.ts';
import { frameCutter } from './frame-cutter.ts';
import { messageRewriter } from './message-rewriter.ts';
import { publishRewriter } from './publish-rewriter.ts';
import { relay } from './relay.ts';

const route = (topic: string, more: Partial<Route> = {}): Route => ({
  topic,
  retain: 'never',
  maxBytes: Number.POSITIVE_INFINITY,
  counter: routeCounter(),
  ...more,
});

/** Topics that begin with `no` go nowhere. */
const map: RouteMap = (topic) => (topic.startsWith('no') ? null : route(`to/${topic}`));

const message = fc.record({
  topic: fc.constantFrom('a', 'a/b', 'no', 'no/b', 'ü/€', '/', 'x'.repeat(300)),
  payload: fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)),
  qos: fc.constantFrom<0 | 1 | 2>(0, 1, 2),
  retain: fc.boolean(),
  dup: fc.boolean(),
});

const published = (messages: readonly (typeof message extends fc.Arbitrary<infer M> ? M : never)[], version: 4 | 5) =>
  messages.map((one, n): IPublishPacket & { readonly messageId: number } => ({
    cmd: 'publish',
    ...one,
    dup: one.qos > 0 && one.dup,
    messageId: n + 1,
    ...(version === 5 && { properties: { contentType: 'text/plain', userProperties: { a: 'b' } } }),
  }));

const read = (bytes: Buffer): Packet[] => {
  const packets: Packet[] = [];
  const reader = parser({ protocolVersion: 4 });
  reader.on('packet', (packet) => packets.push(packet));
  reader.on('error', (error: unknown) => {
    throw error;
  });
  reader.parse(bytes);
  return packets;
};

/** Cuts bytes at any places. */
const pieces = (bytes: Buffer, cuts: readonly number[]): Buffer[] => {
  const places = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b);
  return places.slice(1).map((place, n) => Buffer.from(bytes.subarray(places[n], place)));
};

const rewritten = (chunks: readonly Buffer[], version: 4 | 5, maxBytes = 1_000_000) => {
  const terms = { source: version, sink: 4, limits: noLimits, window: null, maxHops: 8 } as const;
  const rewriter = version === 4 ? publishRewriter(map, null) : messageRewriter(map, terms);
  const cut = frameCutter({ maxBytes, tooLarge: rewriter.tooLarge });
  const forward: Buffer[] = [];
  const back: Buffer[] = [];
  for (const chunk of chunks) {
    cut(chunk, rewriter.frame);
    const taken = rewriter.take();
    if (taken.forward !== null) forward.push(Buffer.from(taken.forward));
    if (taken.back !== null) back.push(Buffer.from(taken.back));
  }
  return { forward: Buffer.concat(forward), back: Buffer.concat(back), rewriter };
};

describe('frames that are cut anywhere', () => {
  for (const version of [4, 5] as const) {
    test(`MQTT ${version}: each message goes on with its payload, id and QoS, or is acknowledged and goes nowhere`, () => {
      fc.assert(
        fc.property(fc.array(message, { maxLength: 20 }), fc.array(fc.nat(), { maxLength: 20 }), (messages, cuts) => {
          const packets = published(messages, version);
          const bytes = Buffer.concat(packets.map((packet) => generate(packet, { protocolVersion: version })));
          const { forward, back } = rewritten(pieces(bytes, cuts), version);
          const kept = packets.filter(({ topic }) => !topic.startsWith('no'));
          expect(
            read(forward).map((packet) => {
              if (packet.cmd !== 'publish') throw new Error(packet.cmd);
              const { topic, payload, qos, retain, dup, messageId } = packet;
              return {
                topic,
                payload: payload.toString('latin1'),
                qos,
                retain,
                dup,
                messageId: qos > 0 ? messageId : 0,
              };
            }),
          ).toEqual(
            kept.map(({ topic, payload, qos, dup, messageId }) => ({
              topic: `to/${topic}`,
              payload: payload.toString('latin1'),
              qos,
              retain: false,
              dup,
              messageId: qos > 0 ? messageId : 0,
            })),
          );
          expect(read(back).map(({ cmd, messageId }) => ({ cmd, messageId }))).toEqual(
            packets
              .filter(({ topic, qos }) => topic.startsWith('no') && qos > 0)
              .map(({ qos, messageId }) => ({ cmd: qos === 1 ? 'puback' : 'pubrec', messageId })),
          );
        }),
      );
    });
  }

  test('a message that is too large is acknowledged and goes nowhere, wherever it is cut; what is behind it arrives', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 12 }), fc.constantFrom<1 | 2>(1, 2), (cuts, qos) => {
        const large = generate({
          cmd: 'publish',
          topic: 'large',
          payload: Buffer.alloc(5_000, 1),
          qos,
          messageId: 7,
          dup: false,
          retain: false,
        });
        const small = generate({
          cmd: 'publish',
          topic: 'small',
          payload: 'x',
          qos,
          messageId: 8,
          dup: false,
          retain: false,
        });
        const { forward, back } = rewritten(pieces(Buffer.concat([small, large, small]), cuts), 4, 1_000);
        expect(read(forward).map((packet) => packet.cmd === 'publish' && packet.topic)).toEqual([
          'to/small',
          'to/small',
        ]);
        expect(read(back)).toMatchObject([{ cmd: qos === 1 ? 'puback' : 'pubrec', messageId: 7 }]);
      }),
    );
  });

  test('any bytes at all either are followed or end the stream with an error of ours, in bounded memory', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ minLength: 1, maxLength: 60 }), { maxLength: 30 }), (chunks) => {
        try {
          rewritten(
            chunks.map((chunk) => Buffer.from(chunk)),
            4,
            1_000,
          );
        } catch (error) {
          expect(error).toMatchObject({ name: 'AppError' });
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

test('QoS 2 of what no rule wants ends here: PUBREC, and PUBCOMP for its PUBREL; other PUBRELs go on', () => {
  const rewriter = publishRewriter(map, null);
  const cut = frameCutter({ maxBytes: 1_000 });
  cut(
    generate({ cmd: 'publish', topic: 'no', payload: '', qos: 2, messageId: 5, dup: false, retain: false }),
    rewriter.frame,
  );
  expect(read(rewriter.take().back ?? Buffer.alloc(0))).toMatchObject([{ cmd: 'pubrec', messageId: 5 }]);
  for (const messageId of [5, 6]) cut(generate({ cmd: 'pubrel', messageId }), rewriter.frame);
  const { forward, back } = rewriter.take();
  expect(read(back ?? Buffer.alloc(0))).toMatchObject([{ cmd: 'pubcomp', messageId: 5 }]);
  expect(read(forward ?? Buffer.alloc(0))).toMatchObject([{ cmd: 'pubrel', messageId: 6 }]);
});

test('more topics than are remembered, and other rules, change nothing about where they go', () => {
  let prefix = 'to/';
  const rewriter = publishRewriter((topic) => route(prefix + topic), null);
  const cut = frameCutter({ maxBytes: 1_000 });
  const send = (topic: string): string => {
    cut(generate({ cmd: 'publish', topic, payload: '', qos: 0, dup: false, retain: false }), rewriter.frame);
    const [packet] = read(rewriter.take().forward ?? Buffer.alloc(0));
    return packet?.cmd === 'publish' ? packet.topic : '';
  };
  for (let n = 0; n < 70_000; n += 1) if (send(`t${n}`) !== `to/t${n}`) throw new Error(`t${n}`);
  prefix = 'elsewhere/';
  expect(send('t69999')).toBe('to/t69999');
  rewriter.reroute((topic) => route(prefix + topic));
  expect(send('t69999')).toBe('elsewhere/t69999');
});

test('retain, sizes and forms are those of the route', () => {
  const counter = routeCounter();
  const routes: Record<string, Route> = {
    always: route('always', { retain: 'always' }),
    keep: route('keep', { retain: 'keep' }),
    never: route('never'),
    small: route('small', { maxBytes: 3, counter }),
    form: route('form', { form: (payload) => (payload.length > 0 ? Buffer.from(`<${payload}>`) : null), counter }),
  };
  const rewriter = publishRewriter((topic) => routes[topic] ?? null, null);
  const cut = frameCutter({ maxBytes: 1_000 });
  const send = (topic: string, payload: string, retain: boolean): unknown => {
    cut(generate({ cmd: 'publish', topic, payload, qos: 1, messageId: 1, dup: false, retain }), rewriter.frame);
    const [packet] = read(rewriter.take().forward ?? Buffer.alloc(0));
    return packet?.cmd === 'publish' ? [packet.payload.toString(), packet.retain] : undefined;
  };
  expect(send('always', 'x', false)).toEqual(['x', true]);
  expect(send('keep', 'x', true)).toEqual(['x', true]);
  expect(send('keep', 'x', false)).toEqual(['x', false]);
  expect(send('never', 'x', true)).toEqual(['x', false]);
  expect(send('small', 'xyz', false)).toEqual(['xyz', false]);
  expect(send('small', 'xyzz', false)).toBeUndefined();
  expect(send('form', 'x', false)).toEqual(['<x>', false]);
  expect(send('form', '', false)).toBeUndefined();
  expect(counter.dropped).toBe(2);
});

test('a sink never has more QoS 2 messages under way than it takes; the order stays and none is lost', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.constantFrom<0 | 2>(0, 2), { maxLength: 30 }),
      (most, kinds) => {
        const rewriter = publishRewriter((topic) => route(topic), publishWindow(most, 2));
        const cut = frameCutter({ maxBytes: 1_000 });
        const arrived: number[] = [];
        const open = new Set<number>();
        const deliver = (): void => {
          for (const packet of read(rewriter.take().forward ?? Buffer.alloc(0))) {
            if (packet.cmd !== 'publish') continue;
            arrived.push(Number(packet.topic));
            if (packet.qos === 2) open.add(packet.messageId ?? 0);
          }
          expect(open.size).toBeLessThanOrEqual(most);
        };
        for (const [n, qos] of kinds.entries()) {
          const packet = {
            cmd: 'publish',
            topic: `${n}`,
            payload: 'p',
            qos,
            messageId: n + 1,
            dup: false,
            retain: false,
          } as const;
          cut(generate(packet), rewriter.frame);
          deliver();
        }
        for (let id = [...open][0]; id !== undefined; id = [...open][0]) {
          open.delete(id);
          rewriter.completed(id);
          deliver();
        }
        expect(arrived).toEqual(kinds.map((_, n) => n));
      },
    ),
  );
});

test('acknowledgements of a sink go on as they are, everything else is told', () => {
  const others: number[] = [];
  const done: number[] = [];
  const filter = ackFilter(1_000, {
    completed: (id) => done.push(id),
    other: (buffer, start) => others.push((buffer[start] ?? 0) >> 4),
  });
  const frames: Packet[] = [
    { cmd: 'puback', messageId: 1 },
    { cmd: 'pingresp' },
    { cmd: 'pubrec', messageId: 2 },
    { cmd: 'pubcomp', messageId: 3 },
  ];
  const back = filter.chunk(Buffer.concat(frames.map((frame) => generate(frame))));
  expect(read(back ?? Buffer.alloc(0)).map(({ cmd, messageId }) => [cmd, messageId])).toEqual([
    ['puback', 1],
    ['pubrec', 2],
    ['pubcomp', 3],
  ]);
  expect([others, done, filter.confirmed()]).toEqual([[13], [3], 2]);
});

test('a source is not read while the sink takes nothing, and read again when it does', async () => {
  const source = new PassThrough();
  const sink = new PassThrough({ highWaterMark: 1_024 });
  const ignore = (): void => undefined;
  // What is written to the sink is not read here: `resume` of the relay is undone.
  const pair = relay(source, sink, {
    map,
    terms: { source: 4, sink: 4, limits: noLimits, window: 65_535, maxHops: 8 },
    maxBytes: 10_000,
    fromSource: ignore,
    fromSink: ignore,
  });
  sink.removeAllListeners('data');
  sink.pause();
  source.write(
    generate({ cmd: 'publish', topic: 'a', payload: Buffer.alloc(4_000), qos: 0, dup: false, retain: false }),
  );
  await new Promise((resolve) => setImmediate(resolve));
  expect(source.isPaused()).toBe(true);
  sink.resume();
  await once(sink, 'drain');
  expect(source.isPaused()).toBe(false);
  pair.end(null);
});
