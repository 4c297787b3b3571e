import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Mosquitto, startMosquitto } from './mosquitto.ts';
import { type PlainBroker, startPlainBroker } from './plain-broker.ts';
import { collect, openScene, publish, type Scene, startRepeaterProcess, until } from './repeater-scene.ts';

let folder: string;
let origin: Mosquitto;
let source: PlainBroker;
let sink: Mosquitto;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'retain-scan-'));
  [origin, sink] = await Promise.all([startMosquitto(), startMosquitto()]);
  source = await startPlainBroker(origin);
});
afterEach(async () => {
  await source[Symbol.asyncDispose]();
  await Promise.all([origin[Symbol.asyncDispose](), sink[Symbol.asyncDispose]()]);
  await rm(folder, { recursive: true, force: true });
});

const rule = (more: object = {}) => ({
  Source: `mqtt://127.0.0.1:${source.port}`,
  Sink: { URL: sink.url },
  sourcetopic: 's/#',
  sinktopic: 'mirror/',
  Retain: 'as-published',
  RetainScan: '1s',
  ...more,
});

const retain = (topic: string, payload: string): Promise<void> =>
  publish(origin.port, topic, payload, { retain: true });

/** Retains the same payload under many topics. */
const publishRetained = async (port: number, topics: readonly string[], payload: string): Promise<void> => {
  for (let at = 0; at < topics.length; at += 20) {
    await Promise.all(topics.slice(at, at + 20).map((topic) => publish(port, topic, payload, { retain: true })));
  }
};

let reads = 0;
/** What is retained at the sink now. */
const retainedThere = async (): Promise<Record<string, string>> => {
  reads += 1;
  await using got = await collect(sink.port, '#', `reader${reads}-`);
  // Retained messages come before what is published later.
  await publish(sink.port, `end/${reads}`, 'x');
  await until('the end', () => got.messages.some(({ topic }) => topic === `end/${reads}`));
  return Object.fromEntries(got.messages.filter((one) => one.retain).map(({ topic, payload }) => [topic, payload]));
};
const untilThere = async (what: string, expected: Record<string, string>): Promise<void> => {
  let there: Record<string, string> = {};
  await until(what, async () => {
    there = await retainedThere();
    return JSON.stringify(Object.entries(there).sort()) === JSON.stringify(Object.entries(expected).sort());
  }).catch((error: unknown) => {
    expect(there).toEqual(expected);
    throw error;
  });
};

const statusOf = ({ mirrors }: Scene, id: string) => {
  const found = mirrors.reports().find(({ record }) => record.ID === id);
  if (found === undefined) throw new Error(`there is no mirror ${id}`);
  return found.status;
};
const notesOf = (scene: Scene, id: string): string => statusOf(scene, id).notes.join('; ');
/** Waits for a scan that began after now: two more that have ended. */
const nextScan = async (scene: Scene, id: string): Promise<void> => {
  for (let turn = 0; turn < 2; turn += 1) {
    const before = notesOf(scene, id);
    await until('another scan', () => notesOf(scene, id) !== before);
  }
};

describe('RetainScan: what a source of 3.1.1 has retained (issue 6)', () => {
  test('what is added, changed and removed there is so at the sink; what others have retained there is left alone', async () => {
    await publish(sink.port, 'mirror/s/theirs', 'theirs', { retain: true });
    await retain('s/a', '1');
    await retain('s/b', '1');
    await retain('other', '1');
    await using scene = await openScene({ folder });
    const id = await scene.start(rule());
    const theirs = { 'mirror/s/theirs': 'theirs' };
    await untilThere('what was there before', { ...theirs, 'mirror/s/a': '1', 'mirror/s/b': '1' });
    expect(statusOf(scene, id).mqtt).toBe('3.1.1 → 5');

    await retain('s/b', '2');
    await retain('s/c/d', '1');
    await retain('s/a', '');
    await untilThere('the same again', { ...theirs, 'mirror/s/b': '2', 'mirror/s/c/d': '1' });
    await until('how it went', () => notesOf(scene, id).startsWith('2 retained topics at '));
  });

  test('Law 8: a scan that finds nothing new writes nothing to the sink', async () => {
    await retain('s/a', '1');
    await using scene = await openScene({ folder });
    const id = await scene.start(rule());
    await untilThere('the first', { 'mirror/s/a': '1' });
    await nextScan(scene, id);
    await using got = await collect(sink.port, 'mirror/#', 'watcher');
    const { messages } = statusOf(scene, id);
    await nextScan(scene, id);
    expect(statusOf(scene, id).messages).toBe(messages);
    expect(got.messages.filter((one) => !one.retain)).toEqual([]);
  });

  test('Law 11: what was mirrored is known after a restart: what went meanwhile is removed, what is another is retained', async () => {
    for (const topic of ['s/stays', 's/goes', 's/changes']) await retain(topic, '1');
    const scene = await openScene({ folder });
    await scene.start(rule());
    await untilThere('all three', { 'mirror/s/stays': '1', 'mirror/s/goes': '1', 'mirror/s/changes': '1' });
    await scene[Symbol.asyncDispose]();
    await retain('s/goes', '');
    await retain('s/changes', '2');
    await using again = await openScene({ folder });
    await untilThere('what is there now', { 'mirror/s/stays': '1', 'mirror/s/changes': '2' });
    const [report] = again.mirrors.reports();
    await nextScan(again, report?.record.ID ?? '');
  });

  test('Law 11: killed hard while it retains, it leaves nothing at the sink that it does not know of', async () => {
    const count = 300;
    const topics = Array.from({ length: count }, (_, n) => `s/${n}`);
    await publishRetained(origin.port, topics, 'x');
    await using repeater = await startRepeaterProcess(rule());
    for (const share of [1, 2, 3]) {
      await until('some of them', async () => Object.keys(await retainedThere()).length >= (share * count) / 10);
      await repeater.crash();
    }
    await until('all of them', async () => Object.keys(await retainedThere()).length === count);
    await publishRetained(origin.port, topics, '');
    await untilThere('nothing', {});
  }, 120_000);

  test('Law 1: a scan that is cut short removes nothing, and says why; Law 2: a source that has nothing left empties the sink', async () => {
    const all: Record<string, string> = {};
    for (let n = 0; n < 20; n += 1) {
      await retain(`s/${n}`, 'x'.repeat(100));
      all[`mirror/s/${n}`] = 'x'.repeat(100);
    }
    await using scene = await openScene({ folder });
    const id = await scene.start(rule());
    await untilThere('all of them', all);

    source.cutAfter = { clientId: 'ikr', bytes: 600 };
    await until('why', () => /cannot be looked at: the source closed/.test(notesOf(scene, id)));
    for (let n = 0; n < 20; n += 1) await retain(`s/${n}`, '');
    await until('another try', () => /cannot be looked at/.test(notesOf(scene, id)));
    expect(await retainedThere()).toEqual(all);
    expect(scene.state(id)).toBe('active');

    source.cutAfter = null;
    await untilThere('nothing', {});
  }, 120_000);

  test('a rule that takes the place of one with the same topics goes on with what that one has mirrored', async () => {
    await retain('s/a', '1');
    await using scene = await openScene({ folder });
    const owner = { 'infrakit.enrollment.owner': 'stack/repeater/spec', 'infrakit.enrollment.sourceID': 's/#' };
    const first = await scene.start(rule(), owner);
    await untilThere('the first', { 'mirror/s/a': '1' });
    await scene.start(rule({ RetainScan: '2s' }), owner);
    await scene.stop(first);
    await retain('s/a', '');
    await untilThere('nothing', {});
  });

  test('many rules are all looked at, a few at once, and end together', async () => {
    await using scene = await openScene({ folder });
    const ids: string[] = [];
    for (let n = 0; n < 20; n += 1) {
      await retain(`s/${n}`, `${n}`);
      ids.push(await scene.start(rule({ sourcetopic: `s/${n}` })));
    }
    await until('each', () => ids.every((id) => notesOf(scene, id).startsWith('1 retained topics at ')));
    expect(Object.keys(await retainedThere())).toHaveLength(20);
  });

  test('a mirror that is destroyed leaves what it has retained, and nothing on the disk', async () => {
    await retain('s/a', '1');
    await using scene = await openScene({ folder });
    const id = await scene.start(rule());
    await untilThere('the first', { 'mirror/s/a': '1' });
    expect(await readdir(join(folder, 'retained'))).toHaveLength(1);
    await scene.stop(id);
    await until('nothing kept', async () => (await readdir(join(folder, 'retained'))).length === 0);
    expect(await retainedThere()).toEqual({ 'mirror/s/a': '1' });
  });

  test('where the source speaks MQTT 5 nothing is scanned: it tells with each message', async () => {
    await using scene = await openScene({ folder });
    const id = await scene.start(rule({ Source: origin.url }));
    await retain('s/a', '1');
    await untilThere('the first', { 'mirror/s/a': '1' });
    await retain('s/a', '');
    await untilThere('nothing', {});
    expect(statusOf(scene, id)).toMatchObject({ mqtt: '5', notes: [] });
  });

  test('a sink that retains nothing is told, and the rest goes on', async () => {
    await using deaf = await startMosquitto({ config: ['retain_available false'] });
    await retain('s/a', '1');
    await using scene = await openScene({ folder });
    const id = await scene.start(rule({ Sink: { URL: deaf.url } }));
    await until('why', () => /does not allow messages to be retained/.test(notesOf(scene, id)));
    await using got = await collect(deaf.port, 'mirror/#');
    await publish(origin.port, 's/live', 'live');
    await until('a live one', () => got.messages.some(({ payload }) => payload === 'live'));
  });
});
