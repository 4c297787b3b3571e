import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openMirrors } from '@infrakit/repeater';
import { systemClock, systemRandom } from '@infrakit/runtime';
import { describe, expect, test } from 'vitest';
import { recordingLog } from '../host/recording-log.ts';
import { type EmbeddedSubject, mosquittoPub, startEmbedded } from './embedded.ts';
import { startMosquitto } from './mosquitto.ts';
import { collect, until } from './repeater-scene.ts';
import { stubbornPublisher } from './stubborn-publisher.ts';

const keepsAll = { config: ['max_queued_messages 0', 'max_inflight_messages 0'] };
const ctx = { signal: new AbortController().signal, timeoutMs: 5_000 };

/** A repeater of the broker's process, or of another one that goes over its socket. */
const openRepeater = async (source: EmbeddedSubject, way: 'in process' | 'over the socket') => {
  let ids = 0;
  const mirrors = await openMirrors(
    null,
    { probeMs: 1_500, maxBytes: 1024 * 1024 },
    {
      identity: 'the same either way',
      broker: {
        address: { kind: 'unix', path: source.socketPath },
        url: null,
        prefix: 'infrakit',
        ...(way === 'in process' && { openReader: source.broker.openReader }),
      },
      variable: () => undefined,
      log: recordingLog().log,
      clock: systemClock,
      random: systemRandom,
      newId: () => {
        ids += 1;
        return `m${ids}`;
      },
      changed: () => undefined,
      fares: () => undefined,
    },
  );
  const state = (id: string) => mirrors.reports().find(({ record }) => record.ID === id)?.status.state;
  return {
    mirror: async (Properties: object): Promise<string> => {
      const spec = { Properties, Tags: {}, Init: '', LogicalID: null, Attachments: null };
      const { id } = await mirrors.instance.provision({ spec }, ctx);
      return id;
    },
    isActive: (id: string) => state(id) === 'active',
    [Symbol.asyncDispose]: mirrors.close,
  };
};

const rule = (source: EmbeddedSubject, sink: { readonly port: number }, more: object = {}) => ({
  Source: `unix:${source.socketPath}`,
  Sink: { URL: `127.0.0.1:${sink.port}` },
  sourcetopic: 's/#',
  sinktopic: 'mirror/',
  ...more,
});

const publishAt = async (source: EmbeddedSubject, topic: string, payload: string, ...more: string[]): Promise<void> => {
  await mosquittoPub('--unix', source.socketPath, '-t', topic, '-m', payload, ...more);
};

const numbersOf = (messages: readonly { readonly payload: string }[]): number[] =>
  messages.map(({ payload }) => Number(payload));

const ascending = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

describe('a repeater in the process of the embedded broker', () => {
  test('mirrors what it mirrors over the socket: each QoS, retained and live, empty levels, no `$` topics', async () => {
    const seen: unknown[] = [];
    for (const way of ['in process', 'over the socket'] as const) {
      await using sink = await startMosquitto(keepsAll);
      await using source = await startEmbedded();
      await using got = await collect(sink.port);
      await using repeater = await openRepeater(source, way);
      await publishAt(source, 's/kept', 'retained before', '-q', '1', '-r');
      for (const QoS of [0, 1, 2]) {
        const id = await repeater.mirror(rule(source, sink, { QoS, sinktopic: `q${QoS}/` }));
        await until('the mirror', () => repeater.isActive(id));
      }
      const all = await repeater.mirror(rule(source, sink, { sourcetopic: '+/clients/#', sinktopic: 'all/' }));
      await until('the mirror', () => repeater.isActive(all));
      for (const qos of ['0', '1', '2']) await publishAt(source, `s/a//${qos}`, `live ${qos}`, '-q', qos);
      await publishAt(source, 's/kept', 'retained after', '-q', '2', '-r');
      await publishAt(source, 'end/clients/x', 'end', '-q', '1');
      await until('all', () => got.messages.some(({ payload }) => payload === 'end'));
      await until('all', () => got.messages.length >= 16);
      seen.push(got.messages.map(({ topic, payload, retain }) => `${topic} ${payload} ${retain}`).sort());
    }
    expect(seen[0]).toHaveLength(16);
    expect(seen[0]).toEqual(seen[1]);
  });

  test.each([1, 2] as const)('QoS %i: keeps all in its session while the sink is away, in order', async (QoS) => {
    await using sink = await startMosquitto({ ...keepsAll, persistence: true });
    await using source = await startEmbedded();
    await using repeater = await openRepeater(source, 'in process');
    const id = await repeater.mirror(rule(source, sink, { QoS }));
    await until('the mirror', () => repeater.isActive(id));
    const publisher = stubbornPublisher(source.socketPath, 's/x', QoS);
    await publisher.publish(100);
    await sink.stop();
    await publisher.publish(500);
    await sink.start();
    await using got = await collect(sink.port, 'mirror/#');
    await publisher.publish(100);
    await until('the last', () => got.messages.some(({ payload }) => payload === '699'));
    publisher.close();
    const late = numbersOf(got.messages).filter((number) => number >= 100);
    expect([...new Set(late)]).toEqual(ascending(600).map((number) => number + 100));
    if (QoS === 2) expect(late).toHaveLength(600);
  });

  test.each([1, 2] as const)(
    'QoS %i: kill -9 of both, three times under load, loses nothing that was acknowledged, keeps the order, and doubles nothing at QoS 2',
    { timeout: 120_000 },
    async (QoS) => {
      await using sink = await startMosquitto(keepsAll);
      await using got = await collect(sink.port, 'mirror/#');
      const folder = await mkdtemp(join(tmpdir(), 'infrakit-kill-'));
      const PROPERTIES = JSON.stringify({
        Sink: { URL: `127.0.0.1:${sink.port}` },
        sourcetopic: 's/#',
        sinktopic: 'mirror/',
        QoS,
      });
      const child = fileURLToPath(new URL('embedded-repeater-child.ts', import.meta.url));
      const start = async (): Promise<ChildProcess> => {
        const started = spawn(process.execPath, ['--import', 'tsx', '--conditions=@infrakit/source', child], {
          env: { ...process.env, FOLDER: folder, PROPERTIES },
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        await once(started.stdout, 'data');
        return started;
      };
      const kill = async (running: ChildProcess): Promise<void> => {
        const exit = once(running, 'exit');
        running.kill('SIGKILL');
        await exit;
      };
      let running = await start();
      const publisher = stubbornPublisher(join(folder, 'b.sock'), 's/x', QoS);
      try {
        // What is published before there is a subscription is nobody's.
        await until('the first', async () => {
          await publisher.publish(1);
          return got.messages.length > 0;
        });
        const first = numbersOf(got.messages)[0] ?? 0;
        for (let round = 0; round < 3; round += 1) {
          const before = publisher.acknowledged().size;
          const published = publisher.publish(1_000);
          await until('some', () => publisher.acknowledged().size > before + 100 + 250 * round);
          await kill(running);
          running = await start();
          await published;
        }
        const total = publisher.acknowledged().size;
        await until('the last', () => got.messages.some(({ payload }) => payload === `${total - 1}`));
        await publisher.publish(1);
        await until('one more', () => got.messages.some(({ payload }) => payload === `${total}`));
        const numbers = numbersOf(got.messages);
        expect([...new Set(numbers)]).toEqual(ascending(total + 1 - first).map((number) => number + first));
        if (QoS === 2) expect(numbers).toHaveLength(total + 1 - first);
      } finally {
        publisher.close();
        await kill(running);
        await rm(folder, { recursive: true, force: true });
      }
    },
  );

  test('the session of a repeater is one: it goes on over the socket where it ended in process, and back', async () => {
    await using sink = await startMosquitto(keepsAll);
    await using source = await startEmbedded();
    await using got = await collect(sink.port, 'mirror/#');
    const publisher = stubbornPublisher(source.socketPath, 's/x', 2);
    let total = 0;
    for (const way of ['in process', 'over the socket', 'in process'] as const) {
      {
        await using repeater = await openRepeater(source, way);
        const id = await repeater.mirror(rule(source, sink, { QoS: 2 }));
        await until('the mirror', () => repeater.isActive(id));
        total += 200;
        await publisher.publish(100);
      }
      // Nobody is there for these; what is under way at the end comes later too.
      await publisher.publish(100);
    }
    await using repeater = await openRepeater(source, 'over the socket');
    await repeater.mirror(rule(source, sink, { QoS: 2 }));
    await until('all', () => got.messages.length >= total);
    publisher.close();
    expect([...new Set(numbersOf(got.messages))].sort((left, right) => left - right)).toEqual(ascending(total));
  });
});
