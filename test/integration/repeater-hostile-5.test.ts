import { describe, expect, test } from 'vitest';
import { lengthBytes, startHostileBroker } from './hostile-broker.ts';
import { startMosquitto } from './mosquitto.ts';
import { collect, openScene, publish, type Scene, until } from './repeater-scene.ts';

interface Place {
  readonly port: number;
}

const between = (source: Place, sink: Place, more: object = {}) => ({
  Source: `mqtt://127.0.0.1:${source.port}`,
  Sink: { URL: `127.0.0.1:${sink.port}` },
  sourcetopic: 's/#',
  sinktopic: 'mirror/',
  QoS: 1,
  ...more,
});

/** A PUBLISH of MQTT 5 with its properties as bytes: QoS 1 with an id, else 0. */
const publish5 = (topic: string, given: readonly number[], payload = 'x', id?: number): Buffer => {
  const name = Buffer.from(topic);
  const idBytes = id === undefined ? [] : [id >> 8, id & 0xff];
  const rest = [name.length >> 8, name.length & 0xff, ...name, ...idBytes, ...given, ...Buffer.from(payload)];
  return Buffer.from([id === undefined ? 0x30 : 0x32, ...lengthBytes(rest.length), ...rest]);
};
const withLength = (bytes: readonly number[]): number[] => [...lengthBytes(bytes.length), ...bytes];
const userProperty = [0x26, 0, 1, 0x61, 0, 1, 0x62];

const reportOf = ({ mirrors }: Scene) => mirrors.reports()[0]?.status;

const begin = async ({ mirrors }: Scene, properties: object): Promise<void> => {
  const spec = { Properties: properties, Tags: {}, Init: '', LogicalID: null, Attachments: null };
  await mirrors.instance.provision({ spec }, { signal: AbortSignal.timeout(30_000), timeoutMs: 30_000 });
};

describe('a hostile source that speaks MQTT 5', () => {
  test.each<readonly [string, Buffer]>([
    ['properties that are longer than their packet', publish5('s/x', [0x7f])],
    ['a length of properties of five bytes', publish5('s/x', [0xff, 0xff, 0xff, 0xff, 0xff, 0])],
    ['a property that nobody knows', publish5('s/x', withLength([0xff, 0, 0]))],
    ['a property that is cut', publish5('s/x', withLength([0x26, 0, 9, 0x61]))],
    ['a DISCONNECT', Buffer.from([0xe0, 2, 0x82, 0])],
    ['a DISCONNECT with a reason that is cut', Buffer.from([0xe0, 5, 0x82, 3, 0x1f, 0, 9])],
    ['a SUBACK without codes', Buffer.from([0x90, 3, 0, 1, 0])],
    ['a packet of the type that there is not', Buffer.from([0x00, 0])],
  ])('%s: it is told or passed over, and a source that does so no more is mirrored', async (_, bytes) => {
    await using sink = await startMosquitto();
    await using got = await collect(sink.port);
    let times = 0;
    await using source = await startHostileBroker({
      limits5: [],
      subscribed: (socket) => {
        times += 1;
        if (times < 3) socket.write(bytes);
        socket.write(publish5('s/fine', withLength(userProperty), 'fine', 9));
      },
    });
    await using scene = await openScene({ probeMs: 300 });
    await begin(scene, between(source, sink));
    await until('what is fine', () => got.messages.some(({ payload }) => payload === 'fine'));
    await until('it is well', () => reportOf(scene)?.state === 'active');
  });

  test('an alias that was never agreed on, and properties by the thousand', async () => {
    await using sink = await startMosquitto();
    await using got = await collect(sink.port);
    const many = withLength(Array.from({ length: 5_000 }, () => userProperty).flat());
    await using source = await startHostileBroker({
      limits5: [],
      subscribed: (socket) => {
        socket.write(publish5('', withLength([0x23, 0, 5]), 'of an alias'));
        socket.write(publish5('s/alias', withLength([0x23, 0, 5]), 'with an alias'));
        socket.write(publish5('s/many', many, 'many'));
        socket.write(publish5('s/fine', [0], 'fine', 9));
      },
    });
    await using scene = await openScene();
    await begin(scene, between(source, sink));
    await until('what is fine', () => got.messages.some(({ payload }) => payload === 'fine'));
    expect(got.messages.map(({ payload }) => payload)).toEqual(['with an alias', 'many', 'fine']);
    expect(source.connections()).toBe(1);
  });
});

describe('a hostile sink that speaks MQTT 5', () => {
  test.each<readonly [string, readonly number[]]>([
    ['takes packets of one byte', [0x27, 0, 0, 0, 1]],
    ['takes none at once', [0x21, 0, 0]],
    ['has a limit of packets of nothing', [0x27, 0, 0, 0, 0]],
    ['knows no QoS there is', [0x24, 9]],
    ['says what nobody knows', [0xff, 1, 2, 3]],
    ['says something cut', [0x27, 0]],
  ])('that %s hangs nothing up: other sinks of the same source get everything', async (_, limits5) => {
    await using source = await startMosquitto();
    await using good = await startMosquitto();
    await using got = await collect(good.port);
    await using hostile = await startHostileBroker({ limits5 });
    await using scene = await openScene({ probeMs: 300 });
    await scene.start(between(source, good));
    await begin(scene, between(source, hostile));
    for (let n = 0; n < 20; n += 1) await publish(source.port, 's/x', `${n}`);
    await until('all', () => got.messages.length === 20);
    expect(got.messages.map(({ payload }) => Number(payload))).toEqual(Array.from({ length: 20 }, (_each, n) => n));
    await until('it was called', () => hostile.connections() > 0);
  });
});
