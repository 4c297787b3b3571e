import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { startAwakeTime } from './awake-time.ts';
import { startBlackHole } from './black-hole.ts';
import { type Hostility, lengthBytes, pour, publishPacket, startHostileBroker } from './hostile-broker.ts';
import { closeServer, listenOnLoopback } from './loopback.ts';
import { startMosquitto } from './mosquitto.ts';
import { startNetwork } from './network.ts';
import {
  collect,
  openScene,
  publish,
  type RepeaterProcess,
  type Scene,
  startRepeaterProcess,
  until,
} from './repeater-scene.ts';

interface Place {
  readonly port: number;
}

const between = (source: Place, sink: Place, more: object = {}) => ({
  Source: `mqtt://127.0.0.1:${source.port}`,
  Sink: { URL: `127.0.0.1:${sink.port}` },
  sourcetopic: 's/#',
  sinktopic: 'mirror/',
  ...more,
});

/** Adds a mirror that need not come to work. */
const begin = async ({ mirrors }: Scene, properties: object): Promise<string> => {
  const spec = { Properties: properties, Tags: {}, Init: '', LogicalID: null, Attachments: null };
  const ctx = { signal: AbortSignal.timeout(30_000), timeoutMs: 30_000 };
  return (await mirrors.instance.provision({ spec }, ctx)).id;
};

const errorOf = ({ mirrors }: Scene, id: string): string =>
  mirrors.reports().find(({ record }) => record.ID === id)?.status.lastError ?? '';

const probeMs = 300;
/** Where it counts how soon something shows. */
const slowMs = 1_000;

describe('issue 6: health is progress', () => {
  test('a sink that accepts and never answers is unhealthy within two probes, and recovers by itself', async () => {
    await using source = await startMosquitto();
    await using sink = await startMosquitto();
    await using hole = await startBlackHole();
    let target = hole.port;
    await using network = await startNetwork(() => target);
    await using scene = await openScene({ probeMs: slowMs });
    await using got = await collect(sink.port);
    using began = startAwakeTime();
    const id = await begin(scene, between(source, network, { QoS: 1 }));
    await until('it shows', () => scene.state(id) === 'unhealthy');
    expect(began.ms()).toBeLessThan(2 * slowMs + 300);
    expect(errorOf(scene, id)).toMatch(/does not answer within 1000 ms/);
    await until('another try', () => hole.accepted() > 1);
    expect(scene.state(id)).toBe('unhealthy');

    target = sink.port;
    await until('it is well', () => scene.state(id) === 'active');
    await publish(source.port, 's/x', 'hello');
    await until('a message', () => got.messages.some(({ payload }) => payload === 'hello'));

    // Everything in between stands still: connections are there, and nobody answers.
    network.freeze();
    using frozen = startAwakeTime();
    await until('it shows again', () => scene.state(id) === 'unhealthy');
    expect(frozen.ms()).toBeLessThan(2 * slowMs + 300);
    network.thaw();
    await publish(source.port, 's/x', 'again');
    await until('another message', () => got.messages.some(({ payload }) => payload === 'again'));
    await until('it is well again', () => scene.state(id) === 'active');
  });

  test('a source that accepts and never answers is unhealthy within two probes too', async () => {
    await using sink = await startMosquitto();
    await using hole = await startBlackHole();
    await using scene = await openScene({ probeMs: slowMs });
    using began = startAwakeTime();
    const id = await begin(scene, between(hole, sink));
    await until('it shows', () => scene.state(id) === 'unhealthy');
    expect(began.ms()).toBeLessThan(2 * slowMs + 300);
    expect(errorOf(scene, id)).toMatch(/does not answer/);
  });

  test('a sink that greets and answers no ping is not taken for well each time it greets', async () => {
    await using source = await startMosquitto();
    await using sink = await startHostileBroker({ isMute: true });
    await using scene = await openScene({ probeMs: 100 });
    const id = await begin(scene, between(source, sink, { QoS: 1 }));
    await until('it was given up', () => sink.connections() > 1);
    const seen = new Set<string | undefined>();
    await until('some more tries', () => {
      seen.add(scene.state(id));
      return sink.connections() > 3;
    });
    expect([...seen]).toEqual(['unhealthy']);
  });
});

test('GP-R13: stopping ends soon, whatever either side is doing', async () => {
  await using good = await startMosquitto();
  await using hole = await startBlackHole();
  await using mute = await startHostileBroker({ isMute: true });
  await using frozen = await startMosquitto();
  const scene = await openScene({ probeMs: 60_000 });
  const id = await scene.start(between(good, frozen, { QoS: 2 }));
  for (const side of [hole, mute]) {
    await begin(scene, between(good, side, { QoS: 2 }));
    await begin(scene, between(side, good, { QoS: 2 }));
  }
  await until('connections', () => hole.accepted() > 1 && mute.connections() > 1);
  frozen.freeze();
  using since = startAwakeTime();
  await scene.stop(id);
  expect(since.ms()).toBeLessThan(1_000);
  await scene[Symbol.asyncDispose]();
  expect(since.ms()).toBeLessThan(5_000);
  frozen.thaw();
});

test('a source that refuses a filter: the rule says so, and a sink that refuses to be probed is none the worse', async () => {
  await using broker = await startMosquitto();
  await using refuses = await startHostileBroker({ grant: 0x80 });
  await using scene = await openScene({ probeMs: slowMs });
  const refused = await begin(scene, between(refuses, broker));
  await until('it shows', () => scene.state(refused) === 'refused');
  expect(errorOf(scene, refused)).toBe('the source refuses s/#');
  const unprobed = await begin(scene, between(broker, refuses));
  await until('it delivers', () => scene.state(unprobed) === 'active');
  const pings = refuses.pings();
  await until('five probes', () => {
    expect(scene.state(unprobed)).toBe('active');
    return refuses.pings() >= pings + 5;
  });
});

test('a sink that sends bytes for ever and never a packet has answered nothing', async () => {
  await using source = await startMosquitto();
  const timers: NodeJS.Timeout[] = [];
  await using sink = await startHostileBroker({
    isMute: true,
    greeted: (socket) => {
      socket.write(Buffer.from([0x30, 0xff, 0x7f]));
      timers.push(setInterval(() => socket.write('x'), 20));
    },
  });
  await using scene = await openScene({ probeMs: 200 });
  const id = await begin(scene, between(source, sink));
  await until('it shows', () => scene.state(id) === 'unhealthy');
  await until('it is called again', () => sink.connections() > 1);
  for (const timer of timers) clearInterval(timer);
});

const connack = Buffer.from([0x20, 2, 0, 0]);
/** A length of 256 MB less one byte, the most there is [MQTT-2.2.3]. */
const most = Buffer.from([0xff, 0xff, 0xff, 0x7f]);

describe('garbage is a reason to connect again, and nothing more', () => {
  test.each<readonly [string, Hostility]>([
    ['what is no MQTT', { greeting: Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n') }],
    ['zeros', { greeting: Buffer.alloc(100_000) }],
    ['a CONNACK of 256 MB', { greeting: Buffer.concat([Buffer.from([0x20]), most]) }],
    ['a CONNACK that is cut', { greeting: connack.subarray(0, 3), greeted: (socket) => socket.end() }],
    [
      'a length of five bytes',
      { greeting: Buffer.concat([connack, Buffer.from([0x30, 0xff, 0xff, 0xff, 0xff, 0xff])]) },
    ],
    ['QoS 3', { greeting: Buffer.concat([connack, Buffer.from([0x36, 3, 0, 0, 0])]) }],
    [
      'a topic longer than its packet',
      { greeting: Buffer.concat([connack, Buffer.from([0x32, 4, 0xff, 0xff, 0, 0])]) },
    ],
    ['a SUBACK of 256 MB', { greeting: Buffer.concat([connack, Buffer.from([0x90]), most]) }],
    ['acknowledgements without an id', { greeting: Buffer.concat([connack, Buffer.from([0x40, 0, 0x62, 0])]) }],
  ])('%s, from a source and from a sink', async (_, hostility) => {
    await using good = await startMosquitto();
    await using hostile = await startHostileBroker(hostility);
    await using scene = await openScene({ probeMs });
    const ids = [await begin(scene, between(hostile, good)), await begin(scene, between(good, hostile))];
    await until('connections anew', () => hostile.connections() > 4);
    expect(scene.state(ids[0] ?? '')).not.toBe('active');
    expect(errorOf(scene, ids[0] ?? '')).not.toBe('');
  });
});

/** Runs a repeater as a process of its own between two places, and says how much its memory has grown at most, in MB. */
const growth = async (properties: object, work: (repeater: RepeaterProcess) => Promise<void>): Promise<number> => {
  await using repeater = await startRepeaterProcess(properties);
  const before = repeater.peakMb();
  await work(repeater);
  return repeater.peakMb() - before;
};

const chunk = Buffer.alloc(64 * 1024, 'x');

/** A source that pours what `next` gives into its first subscriber, and then publishes `s/end`. */
const pouring = (next: () => Buffer | null) => {
  let hasBegun = false;
  return startHostileBroker({
    subscribed: (socket) => {
      if (hasBegun) return;
      hasBegun = true;
      let isOver = false;
      pour(socket, () => {
        if (isOver) return null;
        const more = next();
        isOver = more === null;
        return more ?? publishPacket('s/end', 'the end', { id: 9 });
      });
    },
  });
};

describe('what a hostile broker sends does not bloat the process', () => {
  test('a message of 256 MB is passed over; what comes behind it arrives', async () => {
    await using sink = await startMosquitto();
    await using got = await collect(sink.port);
    const bytes = 268_435_455 - 2 - 's/huge'.length - 2;
    let left = -1;
    await using source = await pouring(() => {
      if (left < 0) {
        left = bytes;
        return publishPacket('s/huge', '', { id: 7, bytes });
      }
      if (left === 0) return null;
      const part = chunk.subarray(0, Math.min(left, chunk.length));
      left -= part.length;
      return part;
    });
    const grown = await growth(between(source, sink, { QoS: 1 }), () =>
      until('the end', () => got.messages.some(({ payload }) => payload === 'the end'), 30_000),
    );
    expect(got.messages.map(({ topic }) => topic)).toEqual(['mirror/s/end']);
    expect(grown).toBeLessThan(120);
  }, 120_000);

  test('endless topics: a million of them, long ones too', async () => {
    await using sink = await startHostileBroker({});
    let n = 0;
    let isThrough = false;
    await using source = await pouring(() => {
      if (n >= 1_000_000) {
        isThrough = true;
        return null;
      }
      const frames: Buffer[] = [];
      for (let some = 0; some < 500; some += 1, n += 1) {
        frames.push(publishPacket(`s/${n}/${n % 1_000 === 0 ? 'long'.repeat(8_000) : ''}`, 'x'));
      }
      return Buffer.concat(frames);
    });
    const grown = await growth(between(source, sink, { QoS: 0 }), () => until('all of them', () => isThrough, 60_000));
    expect(source.connections()).toBe(1);
    // All of them would be more than 400 MB.
    expect(grown).toBeLessThan(350);
  }, 90_000);

  test('a frame of 256 MB over a WebSocket ends the connection before it is there', async () => {
    await using sink = await startMosquitto();
    let poured = 0;
    let upgrades = 0;
    const server = createServer().on('upgrade', ({ headers }, socket: Socket) => {
      upgrades += 1;
      const key = `${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
      const accept = createHash('sha1').update(key).digest('base64');
      socket.on('error', () => socket.destroy());
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Protocol: mqtt\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
      );
      // One binary frame with a length of eight bytes (RFC 6455 §5.2), which begins as MQTT.
      socket.write(Buffer.from([0x82, 127, 0, 0, 0, 0, 0x10, 0, 0, 0]));
      socket.write(connack);
      pour(socket, () => {
        poured += chunk.length;
        return poured > 1_000_000_000 ? null : chunk;
      });
    });
    const port = await listenOnLoopback(server);
    const properties = { ...between({ port }, sink), Source: `ws://127.0.0.1:${port}/mqtt` };
    const grown = await growth(properties, () => until('some tries', () => upgrades > 3, 30_000));
    expect(poured).toBeLessThan(200_000_000);
    expect(grown).toBeLessThan(120);
    server.closeAllConnections();
    await closeServer(server);
  }, 120_000);

  test('a sink that pours messages nobody asked for', async () => {
    await using source = await startMosquitto();
    const nonsense = Buffer.concat(Array.from({ length: 2_000 }, (_, n) => publishPacket(`nobody/asked/${n}`, 'x')));
    let poured = 0;
    await using sink = await startHostileBroker({
      greeted: (socket) =>
        pour(socket, () => {
          poured += nonsense.length;
          return poured > 200_000_000 ? null : nonsense;
        }),
    });
    const grown = await growth(between(source, sink, { QoS: 1 }), () =>
      until('all of it', () => poured > 200_000_000, 60_000),
    );
    expect(sink.connections()).toBe(1);
    expect(grown).toBeLessThan(120);
  }, 90_000);

  test('a sink that acknowledges for ever what was never sent', async () => {
    await using source = await startMosquitto();
    const nonsense = Buffer.concat(
      Array.from({ length: 10_000 }, (_, n) => Buffer.from([n % 2 === 0 ? 0x40 : 0x70, 2, (n >> 8) + 1, n & 0xff])),
    );
    await using sink = await startHostileBroker({ greeted: (socket) => pour(socket, () => nonsense) });
    const grown = await growth(between(source, sink, { QoS: 2 }), async () => {
      await until('the sink is called', () => sink.connections() > 0, 60_000);
      await delay(10_000);
    });
    expect(grown).toBeLessThan(120);
  }, 120_000);

  test('a source that sends for ever to a sink that has stopped reading waits for it', async () => {
    await using sink = await startHostileBroker({ greeted: (socket) => socket.pause() });
    let sent = 0;
    await using source = await startHostileBroker({
      subscribed: (socket) =>
        pour(socket, () => {
          sent += 16 * 1024;
          return sent > 2_000_000_000 ? null : publishPacket('s/x', 'y'.repeat(16 * 1024));
        }),
    });
    const grown = await growth(between(source, sink, { QoS: 0 }), () =>
      until('the sink is given up and called again', () => sink.connections() > 2, 30_000),
    );
    expect(sent).toBeLessThan(500_000_000);
    expect(grown).toBeLessThan(120);
  }, 120_000);

  test('topics that no sink takes are dropped, counted and acknowledged, and do not end the connection again and again', async () => {
    await using sink = await startMosquitto();
    await using got = await collect(sink.port);
    const wrong = ['s/+', 's/a\0b', 's/\u0007', 's/\uffff', 's/#'];
    let acknowledged = 0;
    await using source = await startHostileBroker({
      subscribed: (socket) => {
        socket.on('data', (data) => {
          for (let at = 0; at + 3 < data.length; at += 1)
            if (data[at] === 0x40 && data[at + 1] === 2) acknowledged += 1;
        });
        for (const [n, topic] of wrong.entries()) socket.write(publishPacket(topic, 'x', { id: n + 1 }));
        socket.write(publishPacket(Buffer.from([0x73, 0x2f, 0xff]), 'x', { id: 8 }));
        socket.write(publishPacket('s/fine', 'fine', { id: 9 }));
      },
    });
    await using scene = await openScene({ probeMs: slowMs });
    const id = await scene.start(between(source, sink, { QoS: 1 }));
    await until('what is fine', () => got.messages.some(({ topic }) => topic === 'mirror/s/fine'));
    await until('every acknowledgement', () => acknowledged === wrong.length + 2);
    const status = scene.mirrors.reports().find(({ record }) => record.ID === id)?.status;
    expect(status).toMatchObject({ state: 'active', dropped: wrong.length });
    expect(source.connections()).toBe(1);
  });

  test('a sink that hangs up at once is called with growing pauses', async () => {
    await using source = await startMosquitto();
    await using sink = await startHostileBroker({ greeted: (socket) => socket.end() });
    await using scene = await openScene({ probeMs });
    const id = await begin(scene, between(source, sink));
    await until('a few tries', () => sink.connections() > 2);
    const [beganMs, before] = [performance.now(), sink.connections()];
    await until('three seconds', () => performance.now() > beganMs + 3_000);
    // Without pauses there would be a thousand.
    expect(sink.connections() - before).toBeLessThan(40);
    expect(errorOf(scene, id)).toMatch(/closed the connection|hung up/);
  }, 120_000);
});

test('lengths are written as the standard has them [MQTT-2.2.3]', () => {
  expect([0, 127, 128, 16_383, 268_435_455].map(lengthBytes)).toEqual([
    [0],
    [127],
    [128, 1],
    [255, 127],
    [255, 255, 255, 127],
  ]);
});
