import { cp, mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { realAfter } from '@infrakit/spi';
import { generate, type Packet, parser } from 'mqtt-packet';
import { describe, expect, it } from 'vitest';
import { startEmbeddedBroker } from './embedded-broker.ts';

const ignore = (): void => undefined;

const withFolder = async (run: (folder: string) => Promise<void>): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'acks-'));
  try {
    await run(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

const startBroker = (folder: string, db: string) =>
  startEmbeddedBroker(
    { socketPath: join(folder, `${db}.sock`), persistenceDir: join(folder, db) },
    {
      log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
      after: realAfter,
      now: () => performance.now(),
    },
  );

/** A client that sends what it is told and no more. */
const rawClient = async (path: string | undefined, clientId: string, more: { clean?: boolean; keepalive?: number }) => {
  const socket = connect(path ?? '');
  const received: Packet[] = [];
  let wake = ignore;
  const packets = parser();
  packets.on('packet', (packet: Packet) => {
    received.push(packet);
    wake();
  });
  socket.on('data', (chunk: Buffer) => void packets.parse(chunk));
  socket.on('error', ignore);
  socket.on('close', () => wake());
  /** The next packets, as many, with the ids or payloads that they have. */
  const next = async (count: number): Promise<string[]> => {
    while (received.length < count && !socket.destroyed) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    return received
      .splice(0, count)
      .map((packet) => `${packet.cmd} ${packet.cmd === 'publish' ? packet.payload : packet.messageId}`);
  };
  const send = (...all: Packet[]): void => void socket.write(Buffer.concat(all.map((packet) => generate(packet))));
  send({ cmd: 'connect', protocolId: 'MQTT', protocolVersion: 4, clientId, clean: false, keepalive: 0, ...more });
  await next(1);
  return {
    send,
    next,
    publish: (messageId: number, payload: string, dup = false) =>
      send({ cmd: 'publish', topic: 't', payload, qos: 2, retain: false, dup, messageId }),
    release: (...ids: number[]) => send(...ids.map((messageId): Packet => ({ cmd: 'pubrel', messageId }))),
    close: () => void socket.destroy(),
  };
};

/** Subscribed to everything at QoS 0, so that it has nothing to answer. */
const listen = async (path: string | undefined) => {
  const client = await rawClient(path, 'listener', { clean: true });
  client.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 't', qos: 0 }] });
  await client.next(1);
  return client;
};

describe('QoS 2 of those who publish', () => {
  it('is exactly once over a new connection to the running broker; a released id stands for a new message [MQTT-4.3.3-2]', () =>
    withFolder(async (folder) => {
      await using broker = await startBroker(folder, 'db');
      const listener = await listen(broker.socketPath);
      const first = await rawClient(broker.socketPath, 'publisher', {});
      first.publish(7, 'one');
      expect(await first.next(1)).toEqual(['pubrec 7']);
      first.close();
      const second = await rawClient(broker.socketPath, 'publisher', {});
      second.publish(7, 'one', true);
      expect(await second.next(1)).toEqual(['pubrec 7']);
      second.release(7);
      expect(await second.next(1)).toEqual(['pubcomp 7']);
      second.publish(7, 'two');
      expect(await second.next(1)).toEqual(['pubrec 7']);
      expect(await listener.next(2)).toEqual(['publish one', 'publish two']);
      second.close();
      listener.close();
    }));

  it('answers each PUBREL, also those of ids that are not under way, and of many that come together', () =>
    withFolder(async (folder) => {
      await using broker = await startBroker(folder, 'db');
      for (const clean of [true, false]) {
        const client = await rawClient(broker.socketPath, 'publisher', { clean });
        const ids = Array.from({ length: 300 }, (_, n) => n + 1);
        for (const id of ids) client.publish(id, `${id}`);
        expect(await client.next(ids.length)).toEqual(ids.map((id) => `pubrec ${id}`));
        client.release(...ids, 999);
        const completed = await client.next(ids.length + 1);
        expect(completed.sort()).toEqual([...ids, 999].map((id) => `pubcomp ${id}`).sort());
        client.close();
      }
    }));

  it('an id that waits for its PUBREL survives the broker; one that was released does not, at whatever moment it is killed', () =>
    withFolder(async (folder) => {
      await using killed = await startBroker(folder, 'killed');
      const before = await rawClient(killed.socketPath, 'publisher', {});
      for (const id of [1, 2]) before.publish(id, 'before');
      expect(await before.next(2)).toEqual(['pubrec 1', 'pubrec 2']);
      before.release(1);
      expect(await before.next(1)).toEqual(['pubcomp 1']);
      // What the disk has in this moment is what kill -9 would leave.
      await cp(join(folder, 'killed'), join(folder, 'again'), { recursive: true });
      await using again = await startBroker(folder, 'again');
      const listener = await listen(again.socketPath);
      const after = await rawClient(again.socketPath, 'publisher', {});
      after.publish(2, 'before', true);
      after.publish(1, 'after');
      expect((await after.next(2)).sort()).toEqual(['pubrec 1', 'pubrec 2']);
      expect(await listener.next(1)).toEqual(['publish after']);
      for (const client of [before, after, listener]) client.close();
    }));

  it('a PUBREL shows that its sender is alive: who sends nothing else is not thrown out [MQTT-3.1.2-24]', () =>
    withFolder(async (folder) => {
      await using broker = await startBroker(folder, 'db');
      const client = await rawClient(broker.socketPath, 'publisher', { keepalive: 1 });
      for (const id of [1, 2, 3, 4, 5]) {
        await delay(500);
        client.release(id);
        expect(await client.next(1)).toEqual([`pubcomp ${id}`]);
      }
      client.close();
    }));
});
