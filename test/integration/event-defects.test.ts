import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type BusClient, parseBrokerUrl } from '@infrakit/bus';
import type { Event } from '@infrakit/core';
import type { EventMessage } from '@infrakit/spi';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startHere, type TemporaryHome, temporaryHome } from '../e2e/hosts.ts';
import { brokerOf, connectOperator, eventually } from '../e2e/operator.ts';
import { cattle, plugins } from '../e2e/specs.ts';
import { startAwakeTime } from './awake-time.ts';
import { startEmbedded, until } from './embedded.ts';
import { type Followed, follow, openListener } from './event-listener.ts';

let home: TemporaryHome;
let host: Awaited<ReturnType<typeof startHere>>;
let bus: BusClient;

beforeEach(async () => {
  home = await temporaryHome();
  host = await startHere(plugins, { home: home.path });
  bus = await openListener(await brokerOf(home.path));
});
afterEach(async () => {
  await bus.close();
  await host.stop();
  await home[Symbol.asyncDispose]();
});

const numbersOf = (messages: readonly EventMessage[]): string[] =>
  messages.flatMap((message) => (message.kind === 'event' ? [JSON.stringify(message.event)] : [message.kind]));

describe('following (GP §3.2, §7.3)', () => {
  test('GP-E3: events are followed over TCP as they are over the socket of the home', async () => {
    const overTcp = await openListener(parseBrokerUrl(host.url ?? ''));
    const [here, there] = [follow(bus, 'time', 'streams/msec/100'), follow(overTcp, 'time', 'streams/msec/100')];
    await Promise.all([here.came(3), there.came(3)]);
    const times = new Set(here.events().map(({ Timestamp }) => Timestamp));
    expect(there.events().filter(({ Timestamp }) => times.has(Timestamp)).length).toBeGreaterThan(1);
    await overTcp.close();
  });

  test('two who follow a subtree see the same, one that leaves early disturbs neither, and nobody listening holds nobody up', async () => {
    const [first, second] = [
      follow(bus, 'time', 'streams/msec/'),
      follow(await openListener(await brokerOf(home.path)), 'time', 'streams/msec/'),
    ];
    const leaving = follow(bus, 'time', 'streams/msec/');
    await leaving.came(1);
    leaving.stop();
    await Promise.all([first.came(8), second.came(8)]);
    const seen = numbersOf(first.messages);
    const begin = numbersOf(second.messages)[0] ?? '';
    const shared = seen.slice(seen.indexOf(begin));
    expect(shared.length).toBeGreaterThan(4);
    expect(numbersOf(second.messages).slice(0, shared.length)).toEqual(shared.slice(0, second.messages.length));
    first.stop();
    second.stop();
    const again = follow(bus, 'time', 'streams/msec/100');
    await again.came(2);
  });

  test('each of two sources has its own events', async () => {
    const operator = await connectOperator(await brokerOf(home.path));
    const [ticks, members] = [follow(bus, 'time', 'timer/msec/100'), follow(bus, 'group', 'cattle/member/joined')];
    await ticks.came(1);
    await operator.commit(cattle(5));
    await members.came(5);
    await ticks.came(5);
    expect(members.events().every(({ Type }) => Type === 'member')).toBe(true);
    expect(ticks.events().every(({ Topic }) => Topic === 'timer/msec/100')).toBe(true);
    await operator[Symbol.asyncDispose]();
  });

  test('GP-E6, EI-V8: when the source ends nothing comes any more, not even nothing; others go on', async () => {
    const ticks = follow(bus, 'time', 'timer/msec/100');
    await ticks.came(2);
    const members = follow(bus, 'group', 'cattle/member/joined');
    const operator = await connectOperator(await brokerOf(home.path));
    await host.stopPlugin('time');
    // Whatever was on its way has come before what was published after it.
    await operator.commit(cattle(2));
    await members.came(2);
    const count = ticks.messages.length;
    await operator.scale('cattle', 4);
    await members.came(4);
    expect(ticks.messages.slice(count).filter(({ kind }) => kind !== 'gap')).toEqual([]);
    await operator[Symbol.asyncDispose]();
  });

  test('EI-V1, EI-V10: what is committed after somebody began to follow publishes, and what is committed again goes on', async () => {
    const operator = await connectOperator(await brokerOf(home.path));
    const joined: Followed = follow(bus, 'group', '+/member/joined');
    await operator.commit(cattle(1));
    await joined.came(1);
    await operator.commit({ ...cattle(3), metadata: { name: 'pets' } });
    await joined.came(4);
    await operator.commit(cattle(3));
    const events: Event[] = await joined.came(6);
    const counts = ['cattle', 'pets'].map(
      (group) => events.filter(({ Topic }) => Topic.startsWith(`${group}/`)).length,
    );
    expect(counts).toEqual([3, 3]);
    await operator[Symbol.asyncDispose]();
  });
});

/** Subscribes to everything by hand, and says nothing more; `keepaliveS` is what it promised. */
const subscriber = async (port: number, keepaliveS: number): Promise<Socket> => {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  socket.write(Buffer.from([0x10, 12, 0, 4, 0x4d, 0x51, 0x54, 0x54, 4, 2, 0, keepaliveS, 0, 0]));
  await once(socket, 'data');
  socket.write(Buffer.from([0x82, 6, 0, 1, 0, 1, 0x23, 0]));
  await once(socket, 'data');
  return socket.resume();
};

const closed = async (socket: Socket): Promise<void> => {
  if (!socket.destroyed) await once(socket, 'close');
};

describe('the broker (GP §7.3, EI §6.5)', () => {
  test('GP-E7, EI-V8: a follower of a quiet topic that is gone is noticed at once, one that is mute within one and a half keepalives', async () => {
    await using subject = await startEmbedded();
    const count = (): number => subject.broker.stats().clientsConnected;
    const leaves = await subscriber(subject.port, 60);
    expect(count()).toBe(1);
    leaves.destroy();
    await until(() => count() === 0, 'who left must be noticed');
    const other = await subscriber(subject.port, 60);
    const mute = await subscriber(subject.port, 1);
    using since = startAwakeTime();
    await closed(mute);
    expect(since.ms()).toBeLessThan(3_000);
    await until(() => count() === 1, 'who is mute must be noticed, and nobody else');
    other.destroy();
  });

  test('GP-E16, EI-V14: stopped with many who follow, twice at once, it ends soon, and so do they', async () => {
    await using subject = await startEmbedded();
    const followers = await Promise.all(Array.from({ length: 20 }, () => subscriber(subject.port, 60)));
    using since = startAwakeTime();
    await Promise.all([subject.broker.stop(), subject.broker.stop()]);
    await Promise.all(followers.map(closed));
    await subject.broker.stop();
    expect(since.ms()).toBeLessThan(2_500);
    await eventually('nobody answers', 2_000, async () => {
      const socket = connect({ port: subject.port, host: '127.0.0.1' });
      const [refused] = await Promise.race([once(socket, 'error'), once(socket, 'connect').then(() => [null])]);
      socket.destroy();
      return refused === null ? undefined : true;
    });
  });
});
