import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { requireProgram } from '../programs.mjs';
import { startHostileBroker } from './hostile-broker.ts';
import { type Mosquitto, startMosquitto } from './mosquitto.ts';
import { startPlainBroker } from './plain-broker.ts';
import { collect, openScene, publish, type Scene, stream, until } from './repeater-scene.ts';

const keepsAll = { config: ['max_queued_messages 0', 'max_inflight_messages 0'] };

let source: Mosquitto;
beforeEach(async () => {
  source = await startMosquitto(keepsAll);
});
afterEach(() => source[Symbol.asyncDispose]());

const between = (sink: { readonly url: string }, more: object = {}) => ({
  Source: source.url,
  Sink: { URL: sink.url },
  sourcetopic: 's/#',
  sinktopic: 'mirror/',
  ...more,
});

const statusOf = ({ mirrors }: Scene, id: string) => {
  const found = mirrors.reports().find(({ record }) => record.ID === id);
  if (found === undefined) throw new Error(`there is no mirror ${id}`);
  return found.status;
};

/** A subscriber of MQTT 5: each message as topic, content type, expiry in s, user properties, payload. */
const collectProperties = async (port: number) => {
  const args = ['-p', `${port}`, '-V', '5', '-q', '2', '-t', 'mirror/#', '-t', 'ready', '-F', '%t|%C|%E|%P|%p'];
  const child: ChildProcess = spawn(requireProgram('mosquitto_sub'), args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const lines: string[] = [];
  let isReady = false;
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    for (const line of text.split('\n').filter(Boolean)) {
      if (line.startsWith('ready')) isReady = true;
      else lines.push(line);
    }
  });
  await until('mosquitto_sub', async () => {
    await publish(port, 'ready', 'x');
    return isReady;
  });
  return {
    lines,
    [Symbol.asyncDispose]: async () => {
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    },
  };
};

const publishProperties = async (port: number, topic: string, properties: readonly string[][]): Promise<void> => {
  const options = properties.flatMap((words) => ['-D', 'publish', ...words]);
  const args = ['-p', `${port}`, '-V', '5', '-q', '1', '-t', topic, '-m', 'x', ...options];
  await once(spawn(requireProgram('mosquitto_pub'), args, { stdio: 'ignore' }), 'exit');
};

describe('MQTT 5 where both brokers speak it (issue 6)', () => {
  const properties = [
    ['content-type', 'text/plain'],
    ['message-expiry-interval', '3600'],
    ['user-property', 'colour', 'red'],
  ];

  test.each([0, 1, 2] as const)(
    'QoS %i: user properties, content type and expiry go along, and the hops are counted',
    async (QoS) => {
      await using sink = await startMosquitto();
      await using scene = await openScene();
      await using got = await collectProperties(sink.port);
      const id = await scene.start(between(sink, { QoS }));
      await publishProperties(source.port, 's/full', properties);
      await publish(source.port, 's/bare', 'x');
      await until('both', () => got.lines.length === 2);
      expect(got.lines[0]).toMatch(/^mirror\/s\/full\|text\/plain\|3(600|59\d)\|colour:red infrakit-hops:1\|x$/);
      expect(got.lines[1]).toBe('mirror/s/bare|||infrakit-hops:1|x');
      expect(statusOf(scene, id)).toMatchObject({ mqtt: '5', messages: 2, dropped: 0 });
    },
  );

  test('a broker of 3.1.1 on either side, and a rule that says so, go without', async () => {
    await using sink = await startMosquitto();
    await using plainSource = await startPlainBroker(source);
    await using plainSink = await startPlainBroker(sink);
    await using muteSink = await startPlainBroker(sink, { isMute: true });
    await using scene = await openScene();
    await using got = await collectProperties(sink.port);
    const ways = [
      { mqtt: '3.1.1 → 5', words: { Source: `127.0.0.1:${plainSource.port}`, sourcetopic: 's/0' } },
      { mqtt: '3.1.1', words: { Sink: { URL: `127.0.0.1:${plainSink.port}` }, sourcetopic: 's/1' } },
      { mqtt: '3.1.1', words: { MQTT: '3.1.1', sourcetopic: 's/2' } },
      { mqtt: '3.1.1', words: { Sink: { URL: `127.0.0.1:${muteSink.port}` }, sourcetopic: 's/3' } },
    ];
    for (const [n, { mqtt, words }] of ways.entries()) {
      const id = await scene.start(between(sink, words));
      await publishProperties(source.port, `s/${n}`, properties);
      await until(`way ${n}`, () => got.lines.length === n + 1);
      expect(statusOf(scene, id).mqtt).toBe(mqtt);
    }
    expect(got.lines).toEqual(['mirror/s/0||||x', 'mirror/s/1||||x', 'mirror/s/2||||x', 'mirror/s/3||||x']);
  });
});

test('a broker of MQTT 5 that wants to hear of us more often does [MQTT5-3.2.2-21]', async () => {
  let pings = 0;
  // CONNACK with a Server Keep Alive of 1 s.
  await using sink = await startHostileBroker({
    greeting: Buffer.from([0x20, 6, 0, 0, 3, 0x13, 0, 1]),
    greeted: (socket) =>
      socket.on('data', (data) => {
        if (data.includes(Buffer.from([0xc0, 0]))) pings += 1;
      }),
  });
  await using scene = await openScene({ probeMs: 60_000 });
  const spec = {
    Properties: between({ url: `mqtt://127.0.0.1:${sink.port}` }),
    Tags: {},
    Init: '',
    LogicalID: null,
    Attachments: null,
  };
  await scene.mirrors.instance.provision({ spec }, { signal: AbortSignal.timeout(30_000), timeoutMs: 30_000 });
  await until('a third ping', () => pings >= 3);
});

describe('limits of a sink (issue 6)', () => {
  test.each(['auto', '3.1.1'] as const)(
    'MQTT %s: a message that is larger than it takes is dropped, counted and told; the connection stays',
    async (MQTT) => {
      await using sink = await startMosquitto({ config: ['max_packet_size 2000'] });
      await using scene = await openScene();
      await using got = await collect(sink.port);
      for (const QoS of [0, 1, 2] as const) {
        const id = await scene.start(between(sink, { sourcetopic: `s/${QoS}`, QoS, MQTT }));
        await publish(source.port, `s/${QoS}`, 'x'.repeat(3_000), { qos: QoS });
        await publish(source.port, `s/${QoS}`, 'small', { qos: QoS });
        await until('the small one', () => got.messages.length === QoS + 1);
        expect(statusOf(scene, id)).toMatchObject({
          state: 'active',
          messages: 1,
          dropped: 1,
          lastDrop: expect.stringMatching(/^a packet of 30\d\d bytes is more than the 2000 that the sink takes$/),
          lastError: '',
        });
      }
      expect(got.messages.map(({ payload }) => payload)).toEqual(['small', 'small', 'small']);
    },
  );

  test.each([1, 2] as const)('QoS %i: a sink that knows a lower one gets that, and it is told', async (QoS) => {
    // Lines at the end belong to its last listener, which is the UNIX socket.
    await using sink = await startMosquitto({ config: [`max_qos ${QoS - 1}`] });
    await using scene = await openScene();
    await using got = await collect(sink.port);
    const id = await scene.start(between({ url: sink.unixUrl }, { QoS }));
    const load = stream(source.port, 's/x', { qos: QoS, perSecond: 500 });
    await until('some', () => load.sent() > 200);
    const sent = await load.stop();
    await until('the last one', () => got.messages.length >= sent);
    expect(got.messages.map(({ payload }) => Number(payload))).toEqual(Array.from({ length: sent }, (_, n) => n));
    expect(statusOf(scene, id)).toMatchObject({
      messages: sent,
      lastError: '',
      notes: [`QoS ${QoS - 1} in the place of ${QoS}: the sink takes no more`],
    });
    // Nothing stays with the source: what it hands over anew is what is published anew.
    await until('nothing under way', () => statusOf(scene, id).unacknowledged === 0);
  });

  test('a sink that retains nothing gets messages that are not to be retained, and it is told', async () => {
    await using sink = await startMosquitto({ config: ['retain_available false'] });
    await using scene = await openScene();
    await using got = await collect(sink.port);
    const id = await scene.start(between(sink, { Retain: 'always' }));
    await publish(source.port, 's/x', 'x', { retain: true });
    await until('it', () => got.messages.length === 1);
    expect(statusOf(scene, id)).toMatchObject({
      state: 'active',
      lastError: '',
      notes: ['nothing is retained: the sink does not allow it'],
    });
  });

  test.each([1, 2] as const)(
    'QoS %i: no more messages are under way than it takes, and all arrive in order',
    async (QoS) => {
      await using sink = await startMosquitto({ config: ['max_inflight_messages 3', 'max_queued_messages 0'] });
      await using scene = await openScene();
      await using got = await collect(sink.port);
      const plainSource = await startPlainBroker(source);
      for (const [n, from] of [source.url, `127.0.0.1:${plainSource.port}`].entries()) {
        const topic = `s/${n}`;
        const id = await scene.start(between(sink, { Source: from, sourcetopic: topic, QoS }));
        const load = stream(source.port, topic, { qos: QoS, perSecond: 2_000 });
        await until('some', () => load.sent() > 1_000);
        const sent = await load.stop();
        const numbers = () =>
          got.messages.filter((one) => one.topic === `mirror/${topic}`).map(({ payload }) => Number(payload));
        await until('the last one', () => numbers().length >= sent);
        expect(numbers()).toEqual(Array.from({ length: sent }, (_, at) => at));
        expect(statusOf(scene, id)).toMatchObject({ state: 'active', lastError: '' });
      }
      await plainSource[Symbol.asyncDispose]();
    },
  );
});
