import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Mosquitto, startMosquitto } from './mosquitto.ts';
import { type Collector, collect, openScene, publish, type Scene, until } from './repeater-scene.ts';

let here: Mosquitto;
let there: Mosquitto;
let scene: Scene;
let atHere: Collector;
let atThere: Collector;

beforeAll(async () => {
  [here, there] = await Promise.all([startMosquitto(), startMosquitto()]);
});
afterAll(async () => {
  await here[Symbol.asyncDispose]();
  await there[Symbol.asyncDispose]();
});
let turn = 0;
beforeEach(async () => {
  turn += 1;
  scene = await openScene();
  atHere = await collect(here.port, '#', `here${turn}-`);
  atThere = await collect(there.port, '#', `there${turn}-`);
});
afterEach(async () => {
  await scene[Symbol.asyncDispose]();
  await atHere[Symbol.asyncDispose]();
  await atThere[Symbol.asyncDispose]();
});

const start = (words: object) =>
  scene.start({ Source: `127.0.0.1:${here.port}`, Sink: { URL: `127.0.0.1:${there.port}` }, ...words });

/**
 * Publishes on a broker, and says what has come to the other one by then: topics, with the payloads as they are. In order, as far
 * as they are of one rule: rules may have connections of their own.
 */
const comesFrom = async (from: Mosquitto, topics: readonly string[], last: string, count = 1): Promise<string[]> => {
  const others = from === here ? atThere : atHere;
  for (const topic of topics) await publish(from.port, topic, `of ${topic}`, { qos: 2 });
  const isThere = () => others.messages.some(({ topic }) => topic === last) && others.messages.length >= count;
  await until(last, isThere);
  return others.messages.map(({ topic, payload }) => `${topic} ${payload}`);
};

describe('a rule in mosquitto’s words (GP §6.5, issue 6)', () => {
  test('LocalPrefix is taken off, RemotePrefix put on; the filter stands behind the former', async () => {
    await start({ sourcetopic: '+/temp/#', LocalPrefix: 'house/', RemotePrefix: 'cloud/h1/', QoS: 2 });
    const topics = ['attic/temp', 'house/attic/light', 'house/attic/temp', 'house/cellar/temp//max'];
    expect(await comesFrom(here, topics, 'cloud/h1/cellar/temp//max')).toEqual([
      'cloud/h1/attic/temp of house/attic/temp',
      'cloud/h1/cellar/temp//max of house/cellar/temp//max',
    ]);
  });

  test('LocalPrefix alone takes off, RemotePrefix alone puts on; a topic that is the prefix itself has no place', async () => {
    await start({ sourcetopic: '#', LocalPrefix: 'off/', QoS: 2 });
    await start({ sourcetopic: 'on/#', RemotePrefix: 'x/y/', QoS: 2 });
    expect((await comesFrom(here, ['off', 'off/a/b', 'on', 'on/c'], 'x/y/on/c', 3)).sort()).toEqual([
      'a/b of off/a/b',
      'x/y/on of on',
      'x/y/on/c of on/c',
    ]);
  });

  test('Direction in: from the sink to the source, with the prefixes exchanged; nothing goes out', async () => {
    await start({ sourcetopic: 'set/#', LocalPrefix: 'l/', RemotePrefix: 'r/', Direction: 'in', QoS: 2 });
    await publish(here.port, 'l/set/out', 'no', { qos: 2 });
    expect(await comesFrom(there, ['set/x', 'l/set/x', 'r/set/x'], 'l/set/x')).toEqual([
      'l/set/out no',
      'l/set/x of r/set/x',
    ]);
    await until('what was published there', () => atThere.messages.length >= 3);
    expect(atThere.messages.map(({ topic }) => topic)).toEqual(['set/x', 'l/set/x', 'r/set/x']);
  });

  test('Direction both: each way; what came over does not go back, and a rule by which it would is refused', async () => {
    await start({ sourcetopic: 'chat/#', sinktopic: 'far/', Direction: 'both', QoS: 2 });
    expect(await comesFrom(here, ['chat/a'], 'far/chat/a')).toEqual(['far/chat/a of chat/a']);
    await comesFrom(there, ['chat/b'], 'far/chat/b');
    await publish(here.port, 'chat/end', 'end', { qos: 2 });
    await until('the end', () => atThere.messages.some(({ topic }) => topic === 'far/chat/end'));
    await until('all', () => atHere.messages.length >= 3 && atThere.messages.length >= 3);
    expect(atThere.messages.map(({ topic }) => topic)).toEqual(['far/chat/a', 'chat/b', 'far/chat/end']);
    expect(atHere.messages.map(({ topic }) => topic)).toEqual(['chat/a', 'far/chat/b', 'chat/end']);
    await expect(start({ sourcetopic: 'same/#', Direction: 'both' })).rejects.toThrow(/round for ever/);
  });

  test('Exclude is what makes a rule for everything, both ways, one that may be', async () => {
    const everything = { sourcetopic: '#', sinktopic: 'far/', Direction: 'both', QoS: 2 };
    await expect(start(everything)).rejects.toThrow(/round for ever/);
    await start({ ...everything, Exclude: ['far/#'] });
    await comesFrom(here, ['a'], 'far/a');
    await comesFrom(there, ['b', 'far/c'], 'far/b');
    await publish(there.port, 'end', 'end', { qos: 2 });
    await until('the end', () => atHere.messages.some(({ topic }) => topic === 'far/end'));
    expect(atHere.messages.map(({ topic }) => topic).sort()).toEqual(['a', 'far/b', 'far/end']);
  });

  test('sink topics: the same, a dot, one topic for all, a prefix, what the wildcards stood for', async () => {
    const rules = [
      { sourcetopic: 'same/+' },
      { sourcetopic: 'dot/+', sinktopic: '.' },
      { sourcetopic: 'one/#', sinktopic: '/time/1s' },
      { sourcetopic: 'front/#', sinktopic: 'x/y/' },
      { sourcetopic: 'ask/+/of/+/#', sinktopic: 'told/+/by/+/#' },
    ];
    for (const rule of rules) await start({ ...rule, QoS: 2 });
    const topics = ['same/a', 'dot/a', 'one/a/b', 'front/a', 'ask/who/of/what/and/why'];
    expect((await comesFrom(here, topics, 'told/who/by/what/and/why', 5)).sort()).toEqual([
      '/time/1s of one/a/b',
      'dot/a of dot/a',
      'same/a of same/a',
      'told/who/by/what/and/why of ask/who/of/what/and/why',
      'x/y/front/a of front/a',
    ]);
  });

  test('Exclude: several filters, as they match at the source; a rule for what is excluded takes it', async () => {
    await start({ sourcetopic: 's/#', Exclude: ['s/private/#', 's/+/secret'], sinktopic: 'm/', QoS: 2 });
    await start({ sourcetopic: 's/private/shown', sinktopic: 'shown', QoS: 2 });
    const topics = ['s/private', 's/private/x', 's/a/secret', 's/private/shown', 's/a/b', 's/a/secret/c', 's/end'];
    await comesFrom(here, topics, 'm/s/end');
    // It goes over a connection of its own.
    await until('what is shown', () => atThere.messages.some(({ topic }) => topic === 'shown'));
    expect(atThere.messages.map(({ topic }) => topic).sort()).toEqual([
      'm/s/a/b',
      'm/s/a/secret/c',
      'm/s/end',
      'shown',
    ]);
  });

  test('MaxSize: as many bytes as it says pass, one more is dropped and counted', async () => {
    const id = await start({ sourcetopic: 's/#', MaxSize: 10, QoS: 2 });
    await publish(here.port, 's/ten', 'x'.repeat(10), { qos: 2 });
    await publish(here.port, 's/eleven', 'x'.repeat(11), { qos: 2 });
    await publish(here.port, 's/end', '', { qos: 2 });
    await until('the end', () => atThere.messages.some(({ topic }) => topic === 's/end'));
    expect(atThere.messages.map(({ topic }) => topic)).toEqual(['s/ten', 's/end']);
    const status = scene.mirrors.reports().find(({ record }) => record.ID === id)?.status;
    expect(status).toMatchObject({ messages: 2, dropped: 1 });
  });

  test('QoS is that of each rule: what arrives has the lower of the publisher’s and the rule’s', async () => {
    await using byQos = await collect(there.port, 'q/#', `qos${turn}-`);
    for (const QoS of [0, 1, 2]) await start({ sourcetopic: `${QoS}/#`, sinktopic: 'q/', QoS });
    for (const QoS of [0, 1, 2]) await publish(here.port, `${QoS}/x`, 'x', { qos: 2 });
    await until('all', () => byQos.messages.length === 3);
    expect(byQos.messages.map(({ topic, qos }) => `${topic} ${qos}`).sort()).toEqual(['q/0/x 0', 'q/1/x 1', 'q/2/x 2']);
  });

  test('$-topics are mirrored only when they are named', async () => {
    await start({ sourcetopic: '#', sinktopic: 'all/', QoS: 0 });
    await start({ sourcetopic: '$SYS/broker/version', sinktopic: 'version', QoS: 0 });
    await until('the version', () => atThere.messages.some(({ topic }) => topic === 'version'));
    await publish(here.port, 'end', 'end');
    await until('the end', () => atThere.messages.some(({ topic }) => topic === 'all/end'));
    expect(atThere.messages.filter(({ topic }) => topic.startsWith('all/$'))).toEqual([]);
  });
});
