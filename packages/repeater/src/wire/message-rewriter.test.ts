import fc from 'fast-check';
import { generate, type IPublishPacket, type Packet, parser } from 'mqtt-packet';
import { describe, expect, test } from 'vitest';
import { publishWindow } from '../link/publish-window.ts';
import { type Route, routeCounter } from '../mirror/route.ts';
import { type BrokerLimits, noLimits } from './broker-limits.ts';
import { frameCutter } from './frame-cutter.ts';
import { messageAcks } from './message-acks.ts';
import { type MessageRewriterOptions, messageRewriter } from './message-rewriter.ts';

const read = (bytes: Buffer | null, protocolVersion: 4 | 5): Packet[] => {
  const packets: Packet[] = [];
  const reader = parser({ protocolVersion });
  reader.on('packet', (packet) => packets.push(packet));
  reader.on('error', (error: unknown) => {
    throw error;
  });
  if (bytes !== null) reader.parse(bytes);
  return packets;
};

const limited = (limits: Partial<BrokerLimits>): BrokerLimits => ({ ...noLimits, ...limits });

/** A rewriter between two sides, with what each of them gets. */
const setUp = (options: Partial<MessageRewriterOptions> = {}, more: Partial<Route> = {}) => {
  const all = { source: 5, sink: 5, limits: noLimits, maxHops: 3, window: null, ...options } as const;
  const counter = routeCounter();
  const route: Route = { topic: 'to', retain: 'keep', maxBytes: 10_000, counter, ...more };
  const rewriter = messageRewriter((topic) => (topic === 'no' ? null : route), all);
  const cut = frameCutter({ maxBytes: 100_000, tooLarge: rewriter.tooLarge });
  const acks = messageAcks(1_000, {
    version: all.sink,
    acknowledged: rewriter.acknowledged,
    other: () => {
      throw new Error('nothing else was sent');
    },
  });
  const taken = () => {
    const { forward, back } = rewriter.take();
    return { toSink: read(forward, all.sink), toSource: read(back, all.source) };
  };
  return {
    counter,
    acks,
    fromSource: (packet: Packet) => {
      cut(generate(packet, { protocolVersion: all.source }), rewriter.frame);
      return taken();
    },
    fromSink: (bytes: Buffer) => ({ toSource: read(acks.chunk(bytes), 4), toSink: taken().toSink }),
  };
};

const message = (more: Partial<IPublishPacket> = {}): IPublishPacket => ({
  cmd: 'publish',
  topic: 'from',
  payload: 'x',
  qos: 1,
  messageId: 7,
  dup: false,
  retain: false,
  ...more,
});

const propertiesOf = (packet: Packet | undefined) => (packet?.cmd === 'publish' ? packet.properties : undefined);

describe('properties', () => {
  test('issue 6: between two brokers of MQTT 5 properties go along, but not those of one connection', () => {
    const { fromSource } = setUp();
    const properties = {
      payloadFormatIndicator: true,
      messageExpiryInterval: 60,
      contentType: 'text/plain',
      responseTopic: 'answers',
      correlationData: Buffer.from('7'),
      userProperties: { one: ['1', 'eins'], two: '2' },
    };
    const { toSink } = fromSource(message({ properties: { ...properties, subscriptionIdentifier: 9 } }));
    expect(propertiesOf(toSink[0])).toEqual({
      ...properties,
      userProperties: { ...properties.userProperties, 'infrakit-hops': '1' },
    });
  });

  test('issue 6: each repeater counts one hop; one more than the bound is dropped, acknowledged, counted and told', () => {
    for (const [before, after] of [
      ['1', '2'],
      ['2', '3'],
      ['no number', '1'],
    ] as const) {
      const { fromSource, counter } = setUp();
      const { toSink } = fromSource(message({ properties: { userProperties: { 'infrakit-hops': before } } }));
      expect(propertiesOf(toSink[0])?.userProperties).toEqual({ 'infrakit-hops': after });
      expect(counter).toMatchObject({ messages: 1, dropped: 0 });
    }
    const { fromSource, counter } = setUp();
    const hops = ['3', '1'];
    const { toSink, toSource } = fromSource(message({ properties: { userProperties: { 'infrakit-hops': hops } } }));
    expect(toSink).toEqual([]);
    expect(toSource).toMatchObject([{ cmd: 'puback', messageId: 7 }]);
    expect(counter).toMatchObject({ messages: 0, dropped: 1, lastDrop: expect.stringMatching(/through 3 repeaters/) });
  });

  test('a sink of MQTT 5 gets messages of a source of 3.1.1, and the other way round, without any', () => {
    for (const [source, sink] of [
      [4, 5],
      [5, 4],
      [4, 4],
    ] as const) {
      const { fromSource } = setUp({ source, sink });
      const { toSink } = fromSource(message({ payload: 'text', properties: { contentType: 'a' } }));
      expect(toSink).toMatchObject([{ topic: 'to', qos: 1, messageId: 7 }]);
      expect(toSink.map((packet) => packet.cmd === 'publish' && packet.payload.toString())).toEqual(['text']);
      expect(propertiesOf(toSink[0])).toBeUndefined();
    }
  });

  test('another form of the payload has its own content type', () => {
    const { fromSource } = setUp({}, { form: () => Buffer.from('{}'), contentType: 'application/json' });
    const { toSink } = fromSource(message({ properties: { payloadFormatIndicator: true, contentType: 'text/plain' } }));
    expect(propertiesOf(toSink[0])).toEqual({
      contentType: 'application/json',
      userProperties: { 'infrakit-hops': '1' },
    });
  });

  test('broken properties are an error of ours, never another one', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), (bytes) => {
        const rewriter = messageRewriter(() => null, {
          source: 5,
          sink: 5,
          limits: noLimits,
          maxHops: 3,
          window: null,
        });
        rewriter.reroute(() => ({ topic: 'to', retain: 'never', maxBytes: 1_000, counter: routeCounter() }));
        const frame = Buffer.concat([Buffer.from([0x30, 3 + bytes.length, 0, 1, 97]), bytes]);
        try {
          frameCutter({ maxBytes: 1_000 })(frame, rewriter.frame);
          for (const packet of read(rewriter.take().forward, 5)) expect(packet.cmd).toBe('publish');
        } catch (error) {
          expect(error).toMatchObject({ name: 'AppError', code: 'BUS_REFUSED' });
        }
      }),
      { numRuns: 3_000 },
    );
  });
});

describe('limits of a sink', () => {
  test('a packet that is larger than it takes is dropped, acknowledged, counted and told; the largest one arrives', () => {
    const plain = { source: 4, limits: limited({ maxPacketBytes: 100 }) } as const;
    const { fromSource, counter } = setUp(plain);
    // Two bytes of header, four of topic, two of id, one of properties.
    expect(fromSource(message({ payload: 'x'.repeat(91) })).toSink).toHaveLength(1);
    const { toSink, toSource } = fromSource(message({ payload: 'x'.repeat(92), qos: 2 }));
    expect(toSink).toEqual([]);
    expect(toSource).toMatchObject([{ cmd: 'pubrec', messageId: 7 }]);
    expect(counter).toMatchObject({ messages: 1, dropped: 1, lastDrop: expect.stringMatching(/101 bytes .* 100/) });
    expect(fromSource({ cmd: 'pubrel', messageId: 7 }).toSource).toMatchObject([{ cmd: 'pubcomp', messageId: 7 }]);
  });

  test('QoS 2 becomes 1 where it knows no more; the source still gets all of its handshake', () => {
    const { fromSource, fromSink } = setUp({ limits: limited({ maxQos: 1 }) });
    expect(fromSource(message({ qos: 2 })).toSink).toMatchObject([{ qos: 1, messageId: 7 }]);
    const { toSource } = fromSink(generate({ cmd: 'puback', messageId: 7 }));
    expect(toSource).toMatchObject([{ cmd: 'pubrec', messageId: 7 }]);
    const released = fromSource({ cmd: 'pubrel', messageId: 7 });
    expect(released.toSource).toMatchObject([{ cmd: 'pubcomp', messageId: 7 }]);
    expect(released.toSink).toEqual([]);
  });

  test.each([1, 2] as const)('QoS %i becomes 0 where it knows no more, acknowledged here', (qos) => {
    const { fromSource } = setUp({ limits: limited({ maxQos: 0 }) });
    const { toSink, toSource } = fromSource(message({ qos, dup: true }));
    expect(toSink).toMatchObject([{ qos: 0, dup: false }]);
    expect(toSource).toMatchObject([{ cmd: qos === 1 ? 'puback' : 'pubrec', messageId: 7 }]);
  });

  test('nothing is retained where it does not allow that', () => {
    const { fromSource } = setUp({ limits: limited({ isRetainAvailable: false }) }, { retain: 'always' });
    expect(fromSource(message({ retain: true })).toSink).toMatchObject([{ retain: false }]);
  });

  test('of QoS 1 too no more are under way than it takes, and the order stays', () => {
    const { fromSource, fromSink } = setUp({ window: publishWindow(2, 1) });
    const arrived: unknown[] = [];
    const note = (packets: Packet[]) => arrived.push(...packets.map(({ messageId }) => messageId));
    for (let id = 1; id <= 5; id += 1) note(fromSource(message({ messageId: id, qos: id === 3 ? 2 : 1 })).toSink);
    expect(arrived).toEqual([1, 2]);
    note(fromSink(generate({ cmd: 'puback', messageId: 1 })).toSink);
    expect(arrived).toEqual([1, 2, 3]);
    note(fromSink(generate({ cmd: 'puback', messageId: 2 })).toSink);
    note(fromSink(generate({ cmd: 'pubrec', messageId: 3 })).toSink);
    expect(arrived).toEqual([1, 2, 3, 4]);
    note(fromSink(generate({ cmd: 'pubcomp', messageId: 3 })).toSink);
    expect(arrived).toEqual([1, 2, 3, 4, 5]);
  });
});

describe('what a sink of MQTT 5 answers', () => {
  const ack = (type: number, reason: number): Buffer => Buffer.from([type << 4, 3, 0, 7, reason]);
  const [puback, pubrec] = [4, 5];

  test('a message that it will never take is acknowledged to the source, counted as dropped, and told', () => {
    const { fromSource, fromSink, counter } = setUp();
    fromSource(message());
    expect(fromSink(ack(puback, 0x87)).toSource).toMatchObject([{ cmd: 'puback', messageId: 7 }]);
    fromSource(message({ qos: 2 }));
    expect(fromSink(ack(pubrec, 0x90)).toSource).toMatchObject([{ cmd: 'pubrec', messageId: 7 }]);
    expect(fromSource({ cmd: 'pubrel', messageId: 7 }).toSource).toMatchObject([{ cmd: 'pubcomp', messageId: 7 }]);
    expect(counter).toMatchObject({ messages: 0, dropped: 2, lastDrop: expect.stringMatching(/refuses/) });
  });

  test('one that it does not take for now ends the connection: the source still has it', () => {
    const { fromSource, fromSink, counter } = setUp();
    fromSource(message());
    expect(() => fromSink(ack(puback, 0x97))).toThrow(/does not take a message now/);
    expect(counter.dropped).toBe(0);
  });

  test('that nobody is subscribed there is success', () => {
    const { fromSource, fromSink, counter } = setUp();
    fromSource(message());
    expect(fromSink(ack(puback, 0x10)).toSource).toMatchObject([{ cmd: 'puback', messageId: 7 }]);
    expect(counter).toMatchObject({ messages: 1, dropped: 0 });
  });
});
