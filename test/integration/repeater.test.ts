import { describe, expect, test } from 'vitest';
import { startAwakeTime } from './awake-time.ts';
import { type Mosquitto, startMosquitto } from './mosquitto.ts';
import { collect, openScene, publish, startRepeaterProcess, stream, until } from './repeater-scene.ts';

/** A session keeps all that waits. */
const keepsAll = { config: ['max_queued_messages 0'] };

const between = (source: { readonly port: number }, sink: { readonly port: number }, more: object = {}) => ({
  Source: `mqtt://127.0.0.1:${source.port}`,
  Sink: { URL: `127.0.0.1:${sink.port}` },
  sourcetopic: 's/#',
  sinktopic: 'mirror/',
  ...more,
});

const owned = (rule: string, rank = 0) => ({
  'infrakit.enrollment.owner': 'stack/repeater/spec',
  'infrakit.enrollment.sourceID': rule,
  'infrakit.repeater.rank': `${rank}`,
});

const twoBrokers = async (): Promise<[Mosquitto, Mosquitto]> =>
  Promise.all([startMosquitto(keepsAll), startMosquitto(keepsAll)]);

describe('what arrives', () => {
  test('messages of each QoS arrive under their new topics, payloads untouched', async () => {
    const [source, sink] = await twoBrokers();
    await using scene = await openScene();
    await using got = await collect(sink.port);
    for (const QoS of [0, 1, 2] as const) {
      await scene.start(between(source, sink, { sourcetopic: `s${QoS}/#`, QoS }));
      await publish(source.port, `s${QoS}/a//b`, `to ${QoS}`, { qos: QoS });
      await until(`QoS ${QoS}`, () => got.messages.some(({ payload }) => payload === `to ${QoS}`));
    }
    expect(got.messages.map(({ topic }) => topic)).toEqual(['mirror/s0/a//b', 'mirror/s1/a//b', 'mirror/s2/a//b']);
    await Promise.all([source[Symbol.asyncDispose](), sink[Symbol.asyncDispose]()]);
  });

  test('GP-R10: of rules of one owner the first that wants a topic gets it, once; the one for everything gets the rest', async () => {
    const [source, sink] = await twoBrokers();
    await using scene = await openScene();
    await using got = await collect(sink.port);
    await scene.start(between(source, sink, { sourcetopic: 'a/+', sinktopic: 'first/' }), owned('a/+', 0));
    await scene.start(between(source, sink, { sourcetopic: '+/b', sinktopic: 'second/' }), owned('+/b', 1));
    await scene.start(between(source, sink, { sourcetopic: '#', sinktopic: 'rest/' }), owned('#', 2));
    for (const topic of ['a/b', 'x/b', 'c', 'a/c']) await publish(source.port, topic, topic);
    await publish(source.port, 'end', 'end');
    await until('the last', () => got.messages.some(({ payload }) => payload === 'end'));
    await until('all', () => got.messages.length >= 5);
    expect(got.messages.map(({ topic }) => topic).sort()).toEqual([
      'first/a/b',
      'first/a/c',
      'rest/c',
      'rest/end',
      'second/x/b',
    ]);
    await Promise.all([source[Symbol.asyncDispose](), sink[Symbol.asyncDispose]()]);
  });

  test('what is excluded or too large stays behind, is acknowledged, and the latter is counted', async () => {
    const [source, sink] = await twoBrokers();
    await using scene = await openScene({ maxBytes: 4_096 });
    await using got = await collect(sink.port);
    for (const QoS of [1, 2] as const) {
      const rule = { sourcetopic: `s${QoS}/#`, QoS, Exclude: [`s${QoS}/private/#`], MaxSize: 100 };
      const id = await scene.start(between(source, sink, rule));
      await publish(source.port, `s${QoS}/private/x`, 'secret', { qos: QoS });
      await publish(source.port, `s${QoS}/large`, 'x'.repeat(200), { qos: QoS });
      await publish(source.port, `s${QoS}/huge`, 'x'.repeat(100_000), { qos: QoS });
      await publish(source.port, `s${QoS}/fine`, 'fine', { qos: QoS });
      await until('what is fine', () => got.messages.some(({ topic }) => topic === `mirror/s${QoS}/fine`));
      const status = scene.mirrors.reports().find(({ record }) => record.ID === id)?.status;
      expect(status).toMatchObject({ messages: 1, dropped: 2, state: 'active' });
    }
    expect(got.messages).toHaveLength(2);
    await Promise.all([source[Symbol.asyncDispose](), sink[Symbol.asyncDispose]()]);
  });

  test('as published keeps the retain flag of live messages where the source speaks MQTT 5; always sets it, never clears it', async () => {
    const [source, sink] = await twoBrokers();
    await using scene = await openScene();
    await using got = await collect(sink.port);
    await scene.start(between(source, sink, { sourcetopic: 'k/#', Retain: 'as-published' }));
    await scene.start(between(source, sink, { sourcetopic: 'a/#', Retain: 'always' }));
    await scene.start(between(source, sink, { sourcetopic: 'n/#', Retain: 'never' }));
    await publish(source.port, 'k/kept', '1', { retain: true });
    await publish(source.port, 'k/passing', '1');
    await publish(source.port, 'a/x', '1');
    await publish(source.port, 'n/x', '1', { retain: true });
    await until('all four', () => got.messages.length === 4);
    await using late = await collect(sink.port, 'mirror/#', 'late');
    await until('what is retained', () => late.messages.length >= 2);
    expect(late.messages.map(({ topic }) => topic).sort()).toEqual(['mirror/a/x', 'mirror/k/kept']);
    await Promise.all([source[Symbol.asyncDispose](), sink[Symbol.asyncDispose]()]);
  });
});

describe('changes', () => {
  test('editing one of 100 rules disturbs none of the others: nothing lost, nothing doubled', async () => {
    const [source, sink] = await twoBrokers();
    await using scene = await openScene();
    await using got = await collect(sink.port);
    const ids: string[] = [];
    for (let n = 0; n < 100; n += 1) {
      ids.push(await scene.start(between(source, sink, { sourcetopic: `s/${n}/#`, QoS: 2 }), owned(`s/${n}/#`)));
    }
    const load = stream(source.port, 's/7/x', { qos: 2, perSecond: 300 });
    await until('some', () => got.messages.length > 50);
    // The mirror that takes over is there first, as the controller has it.
    for (let turn = 0; turn < 5; turn += 1) {
      const next = await scene.start(
        between(source, sink, { sourcetopic: 's/50/#', sinktopic: `turn${turn}/`, QoS: 2 }),
        owned('s/50/#'),
      );
      await scene.stop(ids[50] ?? '');
      ids[50] = next;
      await publish(source.port, 's/50/x', `turn ${turn}`, { qos: 2 });
      await until('the edited rule', () => got.messages.some(({ topic }) => topic === `turn${turn}/s/50/x`));
    }
    const sent = await load.stop();
    const numbers = () =>
      got.messages.filter(({ topic }) => topic === 'mirror/s/7/x').map(({ payload }) => Number(payload));
    await until('the rest', () => numbers().length >= sent);
    expect(numbers()).toEqual(Array.from({ length: sent }, (_, n) => n));
    await Promise.all([source[Symbol.asyncDispose](), sink[Symbol.asyncDispose]()]);
  }, 120_000);

  test('GP-R5: a mirror that was destroyed leaves no session at its source', async () => {
    const source = await startMosquitto({ config: ['max_queued_messages 0', 'sys_interval 1'] });
    const sink = await startMosquitto(keepsAll);
    await using scene = await openScene();
    await using sys = await collect(source.port, '$SYS/broker/clients/total');
    const total = () => Number(sys.messages.at(-1)?.payload);
    const id = await scene.start(between(source, sink, { QoS: 1 }));
    await until('its session', () => total() === 2);
    await scene.stop(id);
    await until('the collector alone', () => total() === 1);
    await Promise.all([source[Symbol.asyncDispose](), sink[Symbol.asyncDispose]()]);
  });
});

describe('failures', () => {
  test.each([1, 2] as const)(
    'QoS %i: killed hard three times at 500 messages a second: nothing lost, order kept, QoS 2 not doubled',
    async (QoS) => {
      const [source, sink] = await twoBrokers();
      await using got = await collect(sink.port);
      await using repeater = await startRepeaterProcess(between(source, sink, { QoS }));
      await publish(source.port, 's/probe', 'x');
      await until('the mirror', async () => {
        await publish(source.port, 's/probe', 'x');
        return got.messages.length > 0;
      });
      const load = stream(source.port, 's/x', { qos: QoS, perSecond: 500 });
      for (let kill = 0; kill < 3; kill += 1) {
        const before = got.messages.length;
        await until('traffic', () => got.messages.length > before + 200);
        await repeater.crash();
      }
      const sent = await load.stop();
      const numbers = () =>
        got.messages.filter(({ topic }) => topic === 'mirror/s/x').map(({ payload }) => Number(payload));
      await until('the last one', () => numbers().includes(sent - 1));
      const seen = numbers();
      expect(new Set(seen).size).toBe(sent);
      const first = seen.filter((n, at) => seen.indexOf(n) === at);
      expect(first).toEqual(Array.from({ length: sent }, (_, n) => n));
      if (QoS === 2) expect(seen).toHaveLength(sent);
      await Promise.all([source[Symbol.asyncDispose](), sink[Symbol.asyncDispose]()]);
    },
    120_000,
  );

  test.each([1, 2] as const)(
    'GP-R8: QoS %i: a sink that is down for a while gets everything when it is back',
    async (QoS) => {
      const source = await startMosquitto(keepsAll);
      const sink = await startMosquitto({ ...keepsAll, persistence: true });
      await using scene = await openScene();
      await using got = await collect(sink.port);
      await scene.start(between(source, sink, { QoS }));
      const load = stream(source.port, 's/x', { qos: QoS, perSecond: 300 });
      await until('traffic', () => got.messages.length > 100);
      await sink.stop();
      const down = load.sent();
      await until('messages that wait', () => load.sent() > down + 300);
      await sink.start();
      const sent = await load.stop();
      const numbers = () => got.messages.map(({ payload }) => Number(payload));
      await until('the last one', () => numbers().includes(sent - 1), 30_000);
      expect(new Set(numbers()).size).toBe(sent);
      if (QoS === 2) expect(numbers()).toHaveLength(sent);
      await Promise.all([source[Symbol.asyncDispose](), sink[Symbol.asyncDispose]()]);
    },
    120_000,
  );

  test('GP-R4: a source that was restarted and forgot us is subscribed to again', async () => {
    const [source, sink] = await twoBrokers();
    await using scene = await openScene();
    await using got = await collect(sink.port);
    await scene.start(between(source, sink, { QoS: 2 }));
    await publish(source.port, 's/before', '1', { qos: 2 });
    await until('before', () => got.messages.length === 1);
    await source.restart();
    await until('after', async () => {
      await publish(source.port, 's/after', '1', { qos: 2 });
      return got.messages.some(({ topic }) => topic === 'mirror/s/after');
    });
    await Promise.all([source[Symbol.asyncDispose](), sink[Symbol.asyncDispose]()]);
  });

  test('a sink that freezes is unhealthy within two probes, and delivers again by itself', async () => {
    const [source, sink] = await twoBrokers();
    await using scene = await openScene({ probeMs: 300 });
    await using got = await collect(sink.port);
    const id = await scene.start(between(source, sink, { QoS: 1 }));
    sink.freeze();
    using frozen = startAwakeTime();
    await until('it shows', () => scene.state(id) !== 'active');
    expect(frozen.ms()).toBeLessThan(3 * 300);
    await publish(source.port, 's/x', 'meanwhile');
    sink.thaw();
    await until('what came meanwhile', () => got.messages.some(({ payload }) => payload === 'meanwhile'));
    await until('it is well', () => scene.state(id) === 'active');
    await Promise.all([source[Symbol.asyncDispose](), sink[Symbol.asyncDispose]()]);
  });
});
