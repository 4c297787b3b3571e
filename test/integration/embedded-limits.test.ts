import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connectMqtt, parseBrokerUrl } from '@infrakit/bus';
import { realAfter } from '@infrakit/spi';
import { describe, expect, it } from 'vitest';
import { startAwakeTime } from './awake-time.ts';
import { type EmbeddedSubject, mosquittoPub, mosquittoSub, startEmbedded, until } from './embedded.ts';

const ignore = (): void => undefined;
const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };

const ours = ({ socketPath }: EmbeddedSubject, clientId: string) =>
  connectMqtt(
    { address: parseBrokerUrl(`unix:${socketPath}`), clientId },
    { after: realAfter, random: Math.random, log },
  );

const refused = (subject: EmbeddedSubject, reason: string): number => subject.broker.stats().refused[reason] ?? 0;

const connectPacket = Buffer.from('100c00044d515454040200000000', 'hex');

/** An anonymous client that has connected and subscribed to `#`. */
const guest = async ({ port }: EmbeddedSubject): Promise<Socket> => {
  const socket = connect({ host: '127.0.0.1', port });
  socket.on('error', () => socket.destroy());
  socket.write(connectPacket);
  await once(socket, 'data');
  socket.write(Buffer.of(0x82, 6, 0, 1, 0, 1, 0x23, 0));
  await once(socket, 'data');
  return socket;
};

describe('the limits of the embedded broker', () => {
  it('a guest that reads nothing stops nobody: its messages are dropped and counted', async () => {
    await using subject = await startEmbedded();
    const frozen = await guest(subject);
    frozen.pause();
    const publisher = await ours(subject, 'publisher');
    const reader = await ours(subject, 'reader');
    let seen = 0;
    await reader
      .subscribe('infrakit/events/#', 1, () => {
        seen += 1;
      })
      .ready();
    const payload = Buffer.alloc(20_000, 'x');
    using started = startAwakeTime();
    for (let n = 0; n < 1_000; n += 1) await publisher.publish('infrakit/events/a/b', payload, { qos: 1 });
    await until(() => seen === 1_000, 'the reader did not get everything');
    expect(started.ms()).toBeLessThan(5_000);
    expect(subject.broker.stats().publishesDropped).toBeGreaterThan(0);
    frozen.destroy();
    await publisher.close();
    await reader.close();
  });

  it('one of ours that reads nothing holds the others up for the stall time at most, then it is thrown out', async () => {
    await using subject = await startEmbedded({ limits: { backlogBytes: 64 * 1024, stallMs: 300 } });
    const frozen = connect({ path: subject.socketPath });
    frozen.on('error', ignore);
    frozen.write(Buffer.concat([connectPacket, Buffer.of(0x82, 6, 0, 1, 0, 1, 0x23, 0)]));
    await until(() => subject.broker.stats().subscriptions === 1, 'it did not subscribe');
    const publisher = await ours(subject, 'publisher');
    const reader = await ours(subject, 'reader');
    let seen = 0;
    const events = reader.subscribe('infrakit/events/#', 1, () => {
      seen += 1;
    });
    await events.ready();
    const payload = Buffer.alloc(20_000, 'x');
    await Promise.all(Array.from({ length: 200 }, () => publisher.publish('infrakit/events/a/b', payload, { qos: 1 })));
    await until(() => seen === 200, 'the reader did not get everything');
    expect(refused(subject, 'slow')).toBe(1);
    expect(subject.broker.stats().clientsConnected).toBe(2);
    frozen.destroy();
    await publisher.close();
    await reader.close();
  });

  it('connections over TCP are bounded, and strangers there do not take the places of our own', async () => {
    await using subject = await startEmbedded({ limits: { connections: 2 } });
    const guests = [await guest(subject), await guest(subject)];
    const third = connect({ host: '127.0.0.1', port: subject.port }).resume();
    third.on('error', ignore);
    await once(third, 'close');
    expect(refused(subject, 'connections')).toBe(1);
    const own = await ours(subject, 'own');
    await own.close();
    for (const socket of guests) socket.destroy();
    await until(() => subject.broker.stats().clientsConnected === 0, 'a connection stayed');
    (await guest(subject)).destroy();
  });

  it('filters of one client are bounded: one more is refused in the SUBACK; closing one makes room', async () => {
    await using subject = await startEmbedded({ limits: { subscriptions: 2 } });
    const args = (...filters: string[]) => [
      '--unix',
      subject.socketPath,
      ...filters.flatMap((each) => ['-t', each]),
      '-W',
      '1',
    ];
    await mosquittoSub(...args('a', 'b'));
    expect(refused(subject, 'subscriptions')).toBe(0);
    await mosquittoSub(...args('a', 'b', 'c'));
    expect(refused(subject, 'subscriptions')).toBe(1);
    const own = await ours(subject, 'own');
    for (const filter of ['a', 'b', 'c']) {
      const subscription = own.subscribe(filter, 0, ignore);
      await subscription.ready();
      subscription.close();
      await until(() => subject.broker.stats().subscriptions === 0, 'the subscription stayed');
    }
    await own.close();
  });

  it('a guest that asks too fast is thrown out; what it only acknowledges is not counted', async () => {
    await using subject = await startEmbedded({ limits: { guestPacketsPerSecond: 10 } });
    const polite = await guest(subject);
    polite.write(Buffer.concat(Array.from({ length: 100 }, () => Buffer.of(0x40, 2, 0, 1))));
    const rude = await guest(subject);
    rude.resume().write(Buffer.concat(Array.from({ length: 100 }, () => Buffer.of(0xc0, 0))));
    await once(rude, 'close');
    expect(refused(subject, 'rate')).toBe(1);
    polite.write(Buffer.of(0xc0, 0));
    expect(await once(polite, 'data')).toEqual([Buffer.of(0xd0, 0)]);
    polite.destroy();
  });

  it('retained messages are bounded: a further topic is refused, what is there can change', async () => {
    await using subject = await startEmbedded({ systemEveryMs: 3_600_000, limits: { retainedMessages: 20 } });
    const before = subject.broker.stats().retainedMessages;
    const put = async (n: number | string, payload = 'x') =>
      (await mosquittoPub('--unix', subject.socketPath, '-t', `infrakit/state/a/${n}`, '-m', payload, '-r', '-q', '1'))
        .exit;
    for (let n = before; n < 20; n += 1) expect(await put(n)).toBe(0);
    await put('more');
    expect(refused(subject, 'retained-full')).toBe(1);
    expect(subject.broker.stats().retainedMessages).toBe(20);
    expect(await put(before, 'changed')).toBe(0);
    expect(refused(subject, 'retained-full')).toBe(1);
  });

  it('a lasting session queues so many messages and drops the rest', async () => {
    await using subject = await startEmbedded({ limits: { queuedMessages: 3 } });
    const lasting = ['--unix', subject.socketPath, '-t', 'e/#', '-q', '1', '-c', '-i', 'repeater', '-W', '1'];
    await mosquittoSub(...lasting);
    const own = await ours(subject, 'own');
    for (let n = 1; n <= 5; n += 1) await own.publish('e/x', `${n}`, { qos: 1 });
    await until(() => refused(subject, 'session-full') === 2, 'nothing was dropped');
    await own.close();
    expect((await mosquittoSub(...lasting)).stdout).toBe('1\n2\n3\n');
    expect(subject.broker.stats().publishesDropped).toBe(2);
  });
});
