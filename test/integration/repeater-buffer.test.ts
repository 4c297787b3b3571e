import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { requireProgram } from '../programs.mjs';
import { type Mosquitto, startMosquitto } from './mosquitto.ts';
import { collect, openScene, publish, type Scene, stream, until } from './repeater-scene.ts';

/** A session keeps all that waits. */
const keepsAll = { config: ['max_queued_messages 0', 'queue_qos0_messages true'] };
/** The same; mosquitto 2.0.11 forgets the first message that waits beyond the window of a client that comes back. */
const sinkOptions = { config: [...keepsAll.config, 'max_inflight_messages 20000'], persistence: true };
const mebibyte = 1024 * 1024;

const between = (source: Mosquitto, sink: Mosquitto, more: object = {}) => ({
  Source: source.url,
  Sink: { URL: sink.url },
  sourcetopic: 's/#',
  sinktopic: 'mirror/',
  Buffer: { MaxBytes: 64 * mebibyte },
  ...more,
});

const numbersOf = (messages: readonly { readonly topic: string; readonly payload: string }[], topic = 'mirror/s/x') =>
  messages.flatMap((message) => (message.topic === topic ? [Number(message.payload)] : []));
const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

/** What mosquitto has under way to us at most. */
const sourceWindow = 20;

/**
 * Expects these numbers in order. What the source was not told of when a connection ended it sends again: at QoS 1 it may come
 * twice, and in a full buffer it takes the room of others or finds none. All that was counted as dropped since.
 */
const expectAll = (numbers: readonly number[], expected: readonly number[], QoS: 0 | 1 | 2, dropped = 0): void => {
  const once = [...new Set(numbers)];
  expect(numbers.length - once.length).toBeLessThanOrEqual(QoS === 1 ? sourceWindow : 0);
  expect(dropped).toBeLessThanOrEqual(sourceWindow);
  expect(once).toEqual(expected.filter((number) => once.includes(number)));
  expect(expected.length - once.length).toBeLessThanOrEqual(QoS === 1 ? dropped : 0);
};

let folder: string;
let source: Mosquitto;
let sink: Mosquitto;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'repeater-buffer-'));
  [source, sink] = await Promise.all([startMosquitto(keepsAll), startMosquitto(sinkOptions)]);
});
afterEach(async () => {
  await Promise.all([source[Symbol.asyncDispose](), sink[Symbol.asyncDispose]()]);
  await rm(folder, { recursive: true, force: true });
});

const statusOf = (scene: Scene, id: string) => {
  const found = scene.mirrors.reports().find(({ record }) => record.ID === id);
  if (found === undefined) throw new Error(`there is no mirror ${id}`);
  return found.status;
};
const waiting = (scene: Scene, id: string): number => statusOf(scene, id).buffered?.messages ?? -1;

describe('a buffer on the disk (issue 6)', () => {
  test.each([0, 1, 2] as const)(
    'QoS %i: messages go through it in their order, and nothing of them stays',
    async (QoS) => {
      await using scene = await openScene({ folder });
      await using got = await collect(sink.port);
      const id = await scene.start(between(source, sink, { QoS }));
      const load = stream(source.port, 's/x', { qos: QoS, perSecond: 1_000 });
      await until('traffic', () => load.sent() > 1_500);
      const sent = await load.stop();
      await until('the last one', () => numbersOf(got.messages).includes(sent - 1));
      expect(numbersOf(got.messages)).toEqual(upTo(sent));
      await until('nothing that waits', () => waiting(scene, id) === 0);
      expect(statusOf(scene, id)).toMatchObject({ state: 'active', messages: sent, dropped: 0, lagMs: 0 });
    },
  );

  test.each([1, 2] as const)(
    'QoS %i: what came while the sink was away arrives, though the source has lost everything since',
    async (QoS) => {
      await using scene = await openScene({ folder });
      await using got = await collect(sink.port);
      const id = await scene.start(between(source, sink, { QoS }));
      await sink.stop();
      const load = stream(source.port, 's/x', { qos: QoS, perSecond: 1_000 });
      await until('messages', () => load.sent() > 2_000);
      const sent = await load.stop();
      await until('all of them on the disk', () => waiting(scene, id) === sent);
      await source.restart();
      await sink.start();
      await until('the last one', () => numbersOf(got.messages).includes(sent - 1), 30_000);
      expect(numbersOf(got.messages)).toEqual(upTo(sent));
    },
    120_000,
  );

  test('properties of MQTT 5 wait along, with the time that is left; what has waited for too long is dropped and counted', async () => {
    await using scene = await openScene({ folder });
    const id = await scene.start(between(source, sink, { QoS: 1, Retain: 'always' }));
    await sink.stop();
    const run = promisify(execFile);
    const send = async (topic: string, expiryS: number): Promise<void> => {
      const property = (...words: readonly string[]) => ['-D', 'publish', ...words];
      const properties = [
        ...property('user-property', 'colour', 'blue'),
        ...property('content-type', 'text/plain'),
        ...property('message-expiry-interval', `${expiryS}`),
      ];
      const words = ['-V', '5', '-p', `${source.port}`, '-q', '1', '-t', topic, '-m', 'here', ...properties];
      await run(requireProgram('mosquitto_pub'), words);
    };
    await send('s/short', 3);
    await send('s/long', 1_000);
    await until('more time than it had', () => statusOf(scene, id).lagMs > 3_100);
    await sink.start();
    await until('nothing that waits', () => waiting(scene, id) === 0);
    expect(statusOf(scene, id)).toMatchObject({ messages: 1, dropped: 1, overflowed: 0 });
    const words = ['-V', '5', '-p', `${sink.port}`, '-t', 'mirror/#', '-C', '1', '-W', '5', '-F', '%t|%C|%P|%p|%E'];
    const { stdout } = await run(requireProgram('mosquitto_sub'), words);
    const [topic, type, users = '', payload, expiryS] = stdout.trim().split('|');
    expect([topic, type, payload]).toEqual(['mirror/s/long', 'text/plain', 'here']);
    expect(users.split(' ').sort()).toEqual(['colour:blue', 'infrakit-hops:1']);
    expect(Number(expiryS)).toBeLessThan(1_000);
    expect(Number(expiryS)).toBeGreaterThan(900);
  });

  test('other settings of the buffer leave alone what waits in it', async () => {
    await using got = await collect(sink.port);
    await using scene = await openScene({ folder });
    const tags = { 'infrakit.enrollment.owner': 'stack/repeater/spec', 'infrakit.enrollment.sourceID': 's/#' };
    const one = await scene.start(between(source, sink), tags);
    await sink.stop();
    for (let n = 0; n < 20; n += 1) await publish(source.port, 's/x', `${n}`);
    await until('all of them on the disk', () => waiting(scene, one) === 20);
    // The mirror that takes over is there before the other one goes, as the controller has it.
    const Buffer = { MaxBytes: 128 * 1024, Policy: 'drop-newest' };
    const two = await scene.add(between(source, sink, { Buffer }), tags);
    await scene.stop(one);
    for (let n = 20; n < 40; n += 1) await publish(source.port, 's/x', `${n}`);
    await until('all of them on the disk', () => waiting(scene, two) === 40);
    for (let n = 0; n < 100; n += 1) await publish(source.port, 's/large', 'x'.repeat(2_000));
    await until('it is full by the new settings', () => statusOf(scene, two).overflowed > 30);
    await sink.start();
    await until('all', () => numbersOf(got.messages).length === 40);
    expect(numbersOf(got.messages)).toEqual(upTo(40));
  });

  test('a mirror that is destroyed leaves nothing on the disk', async () => {
    await using scene = await openScene({ folder });
    const id = await scene.start(between(source, sink));
    expect(await readdir(join(folder, 'buffers'))).toHaveLength(1);
    await scene.stop(id);
    await until('no buffer', async () => (await readdir(join(folder, 'buffers'))).length === 0);
  });
});

describe('a buffer that is full', () => {
  const least = 64 * 1024;
  const full = (policy: string, more: object = {}) =>
    between(source, sink, { Buffer: { MaxBytes: least, Policy: policy }, ...more });

  /** Sends so many messages while the sink is away. */
  const sendAway = async (count: number, qos: 1 | 2): Promise<number> => {
    await sink.stop();
    const load = stream(source.port, 's/x', { qos, perSecond: 4_000 });
    await until('messages', () => load.sent() > count);
    return load.stop();
  };

  test.each([
    ['drop-oldest', 1],
    ['drop-oldest', 2],
    ['drop-newest', 1],
    ['drop-newest', 2],
  ] as const)(
    '%s, QoS %i: keeps no more than it may, counts the others, and delivers the rest in order',
    async (policy, QoS) => {
      await using got = await collect(sink.port);
      let scene = await openScene({ folder });
      const id = await scene.start(full(policy, { QoS }));
      const sent = await sendAway(4_000, QoS);
      await until('each is kept or counted', () => {
        const { dropped } = statusOf(scene, id);
        return waiting(scene, id) + dropped === sent;
      });
      const { dropped, overflowed, buffered } = statusOf(scene, id);
      expect(buffered?.bytes).toBeLessThanOrEqual(least);
      expect(buffered?.bytes).toBeGreaterThan(least - 100);
      expect(overflowed).toBe(dropped);
      // It is as full after a restart.
      await scene[Symbol.asyncDispose]();
      scene = await openScene({ folder });
      await until('what was kept', () => waiting(scene, id) === sent - dropped);
      await sink.start();
      await until('nothing that waits', () => waiting(scene, id) === 0);
      const all = upTo(sent);
      const kept = policy === 'drop-oldest' ? all.slice(dropped) : all.slice(0, sent - dropped);
      await until('all of it', () => numbersOf(got.messages).length >= kept.length);
      expectAll(numbersOf(got.messages), kept, QoS, statusOf(scene, id).dropped);
      await scene[Symbol.asyncDispose]();
    },
  );

  test.each([0, 1, 2] as const)(
    'block, QoS %i: the source keeps the rest, is well meanwhile, and everything arrives in order',
    async (QoS) => {
      await using got = await collect(sink.port);
      await using scene = await openScene({ folder, probeMs: 1_000 });
      const id = await scene.start(full('block', { QoS }));
      const payload = 'x'.repeat(500);
      await sink.stop();
      for (let n = 0; n < 30; n += 1) await publish(source.port, 's/y', payload, { qos: QoS });
      const load = stream(source.port, 's/x', { qos: QoS, perSecond: 4_000 });
      await until('messages', () => load.sent() > 6_000);
      const sent = await load.stop();
      await until('it is full', () => (statusOf(scene, id).buffered?.bytes ?? 0) > least - 100);
      // Several probes later the source is still there: it is not taken for dead because it is not read.
      const { length: before } = got.messages;
      await until('probes', () => statusOf(scene, id).lagMs > 4_500);
      expect(statusOf(scene, id)).toMatchObject({ dropped: 0 });
      expect(statusOf(scene, id).buffered?.bytes).toBeLessThanOrEqual(least);
      expect(got.messages).toHaveLength(before);
      await sink.start();
      await until('the last one', () => numbersOf(got.messages).includes(sent - 1), 30_000);
      expectAll(numbersOf(got.messages), upTo(sent), QoS);
    },
    120_000,
  );

  test('what is larger than the whole buffer is dropped and counted, and holds nothing up', async () => {
    await using got = await collect(sink.port);
    await using scene = await openScene({ folder });
    const id = await scene.start(full('block'));
    await publish(source.port, 's/large', 'x'.repeat(70_000));
    await publish(source.port, 's/x', '0');
    await until('the small one', () => got.messages.length === 1);
    expect(statusOf(scene, id)).toMatchObject({ dropped: 1, overflowed: 1 });
  });

  test('rules of one spec share what may be kept: the oldest of all goes first', async () => {
    await using got = await collect(sink.port);
    await using scene = await openScene({ folder });
    const tags = (rule: string) => ({
      'infrakit.enrollment.owner': 'stack/repeater/spec',
      'infrakit.enrollment.sourceID': rule,
    });
    const one = await scene.start(full('drop-oldest', { sourcetopic: 'one/#', QoS: 1 }), tags('one/#'));
    const two = await scene.start(full('drop-oldest', { sourcetopic: 'two/#', QoS: 2 }), tags('two/#'));
    await sink.stop();
    const kilobyte = 'x'.repeat(1_000);
    for (let n = 0; n < 40; n += 1) await publish(source.port, 'one/x', kilobyte);
    for (let n = 0; n < 40; n += 1) await publish(source.port, 'two/x', kilobyte, { qos: 2 });
    await until('the younger ones', () => waiting(scene, two) === 40);
    const kept = Math.floor(least / 1_035) - 40;
    await until('the older ones gave way', () => waiting(scene, one) <= kept);
    expect(statusOf(scene, one).overflowed).toBe(40 - waiting(scene, one));
    expect(statusOf(scene, two).overflowed).toBe(0);
    expect(got.messages).toEqual([]);
  });
});
