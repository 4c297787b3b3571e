import { once } from 'node:events';
import { connect, type NetConnectOpts, type Socket } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type EmbeddedSubject, mosquittoPub, mosquittoSub, startEmbedded, until } from './embedded.ts';

const digits = (length: number): number[] =>
  length < 128 ? [length] : [(length % 128) | 0x80, ...digits(Math.floor(length / 128))];

const packet = (header: number, ...body: Uint8Array[]): Buffer => {
  const bytes = Buffer.concat(body);
  return Buffer.concat([Buffer.of(header, ...digits(bytes.length)), bytes]);
};

const text = (value: string): Buffer => {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.of(bytes.length >> 8, bytes.length & 0xff), bytes]);
};

const connectPacket = (id: string): Buffer => packet(0x10, text('MQTT'), Buffer.of(4, 2, 0, 0), text(id));
const subscribePacket = (...filters: string[]): Buffer =>
  packet(0x82, Buffer.of(0, 7), ...filters.flatMap((filter) => [text(filter), Buffer.of(0)]));
const publishPacket = (topic: string, payload: Uint8Array): Buffer => packet(0x30, text(topic), payload);

/** Sends bytes and says that there are no more; waits until the connection has ended. */
const send = async (where: NetConnectOpts, ...chunks: Uint8Array[]): Promise<void> => {
  const socket = connect(where);
  socket.on('error', () => socket.destroy());
  for (const chunk of chunks) socket.write(chunk);
  socket.end();
  socket.resume();
  await new Promise((resolve) => socket.once('close', resolve));
};

const tcp = ({ port }: EmbeddedSubject) => ({ host: '127.0.0.1', port });
const unix = ({ socketPath }: EmbeddedSubject) => ({ path: socketPath });

const connected = async (where: NetConnectOpts, id: string): Promise<Socket> => {
  const socket = connect(where);
  socket.on('error', () => socket.destroy());
  socket.write(connectPacket(id));
  await once(socket, 'data');
  return socket;
};

/** The broker does its work, and has said at most one line for each reason. */
const expectAlive = async (subject: EmbeddedSubject): Promise<void> => {
  const args = ['--unix', subject.socketPath, '-t', 'infrakit/state/is/alive'];
  expect((await mosquittoPub(...args, '-m', 'yes', '-r', '-q', '1')).exit).toBe(0);
  expect((await mosquittoSub('-h', '127.0.0.1', '-p', `${subject.port}`, '-t', '#', '-C', '1', '-W', '5')).stdout).toBe(
    'yes\n',
  );
  const reasons = subject.lines.map(({ facts }) => facts.reason);
  expect(reasons).toEqual([...new Set(reasons)]);
  expect(subject.lines.every(({ message }) => message === 'the broker refused')).toBe(true);
};

const refused = (subject: EmbeddedSubject, reason: string): number => subject.broker.stats().refused[reason] ?? 0;

const hostile: readonly (readonly [string, readonly Buffer[]])[] = [
  ['another protocol', [packet(0x10, text('HTTP'), Buffer.of(4, 2, 0, 0), text('x'))]],
  ['version 9', [packet(0x10, text('MQTT'), Buffer.of(9, 2, 0, 0), text('x'))]],
  ['reserved connect flag', [packet(0x10, text('MQTT'), Buffer.of(4, 3, 0, 0), text('x'))]],
  ['a client id that is longer than the packet', [packet(0x10, text('MQTT'), Buffer.of(4, 2, 0, 0, 0xff, 0xff))]],
  ['SUBSCRIBE before CONNECT', [subscribePacket('#')]],
  ['CONNECT twice', [connectPacket('x'), connectPacket('x')]],
  ['a CONNACK', [connectPacket('x'), packet(0x20, Buffer.of(0, 0))]],
  ['QoS 3', [connectPacket('x'), packet(0x36, text('t'), Buffer.of(0, 1))]],
  ['SUBSCRIBE without filters', [connectPacket('x'), packet(0x82, Buffer.of(0, 1))]],
  ['SUBSCRIBE with wrong flags', [connectPacket('x'), packet(0x80, Buffer.of(0, 1), text('t'), Buffer.of(0))]],
  ['a wildcard in a topic', [connectPacket('x'), publishPacket('a/#', Buffer.alloc(1))]],
  ['an empty topic', [connectPacket('x'), publishPacket('', Buffer.alloc(1))]],
  ['a length of five digits', [Buffer.of(0x10, 0xff, 0xff, 0xff, 0xff, 1)]],
];

describe('hostile bytes at the embedded broker', () => {
  it.each(hostile)('%s: the connection ends, the rest goes on, it is counted', async (_what, chunks) => {
    await using subject = await startEmbedded();
    for (const where of [tcp(subject), unix(subject)]) await send(where, ...chunks);
    const isCounted = () => Object.values(subject.broker.stats().refused).reduce((sum, n) => sum + n, 0) >= 1;
    await until(() => isCounted(), 'nothing was counted');
    await until(() => subject.broker.stats().clientsConnected === 0, 'a connection stayed');
    await expectAlive(subject);
  });

  it('a client that tries MQTT 5 first is counted as such and complained of by nobody', async () => {
    await using subject = await startEmbedded();
    await send(unix(subject), packet(0x10, text('MQTT'), Buffer.of(5, 2, 0, 0, 0), text('five')));
    await until(() => refused(subject, 'version') === 1, 'it was not counted');
    expect(subject.broker.stats().refused).toEqual({ version: 1 });
    expect(subject.lines).toEqual([]);
  });

  it('clients that go away before they have read what they asked for are complained of by nobody', async () => {
    await using subject = await startEmbedded();
    const writer = await connected(unix(subject), 'writer');
    for (let n = 0; n < 200; n += 1) {
      const topic = text(`infrakit/members/group/a/${n}`);
      writer.write(packet(0x31, topic, Buffer.alloc(4_000, 'x')));
    }
    await until(() => subject.broker.stats().retainedMessages >= 200, 'not everything was retained');
    for (let n = 0; n < 20; n += 1) await send(unix(subject), connectPacket('hasty'), subscribePacket('infrakit/#'));
    await until(() => subject.broker.stats().clientsConnected === 1, 'a connection stayed');
    expect(subject.lines).toEqual([]);
    writer.destroy();
  });

  it('noise, cut packets and flipped bits: the process lives, memory is bounded, one line a minute for each reason', async () => {
    await using subject = await startEmbedded();
    const session = Buffer.concat([
      connectPacket('fuzz'),
      subscribePacket('a/+', '#', '$SYS/#'),
      publishPacket('infrakit/events/a', Buffer.from('{}')),
      packet(0x34, text('q/2'), Buffer.of(0, 9)),
      packet(0x62, Buffer.of(0, 9)),
      packet(0xa2, Buffer.of(0, 8), text('#')),
      packet(0xc0),
    ]);
    const cut = fc.nat(session.length).map((at) => session.subarray(0, at));
    const flipped = fc
      .array(fc.tuple(fc.nat(session.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
      .map((flips) => {
        const bytes = Buffer.from(session);
        for (const [at, value] of flips) bytes[at] = value;
        return bytes;
      });
    const behindConnect = fc.uint8Array({ maxLength: 300 }).map((noise) => Buffer.concat([connectPacket('n'), noise]));
    const bytes = fc.oneof(fc.uint8Array({ maxLength: 300 }), cut, flipped, behindConnect);
    const before = process.memoryUsage().rss;
    await fc.assert(
      fc.asyncProperty(bytes, fc.boolean(), async (noise, isLocal) => {
        await send(isLocal ? unix(subject) : tcp(subject), noise);
      }),
      { numRuns: 1_000 },
    );
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
    await until(() => subject.broker.stats().clientsConnected === 0, 'a connection stayed');
    await expectAlive(subject);
  });

  it('a packet that announces too much is refused by its header: 64 KiB for a stranger, 8 MiB for ours', async () => {
    await using subject = await startEmbedded();
    await send(tcp(subject), Buffer.of(0x10, 0xff, 0xff, 0xff, 0x7f));
    await send(tcp(subject), connectPacket('x'), publishPacket('a', Buffer.alloc(65 * 1024)));
    expect(refused(subject, 'packet-size')).toBe(2);
    await send(
      unix(subject),
      connectPacket('x'),
      publishPacket('infrakit/state/large/x', Buffer.alloc(7 * 1024 * 1024)),
    );
    expect(refused(subject, 'packet-size')).toBe(2);
    await send(unix(subject), connectPacket('x'), publishPacket('a', Buffer.alloc(8 * 1024 * 1024)));
    await until(() => refused(subject, 'packet-size') === 3, 'a publish of more than 8 MiB was not refused');
    await expectAlive(subject);
  });

  it('a CONNECT that does not end, and a connection that says nothing, are closed in time', async () => {
    await using subject = await startEmbedded({ limits: { connectTimeoutMs: 200 } });
    const sockets = [Buffer.alloc(0), connectPacket('slow').subarray(0, -1)].map((start) => {
      const socket = connect(tcp(subject)).resume();
      socket.write(start);
      return socket;
    });
    await Promise.all(sockets.map((socket) => once(socket, 'close')));
    expect(refused(subject, 'connect-timeout')).toBe(2);
    await expectAlive(subject);
  });

  it('endless topics and filters are refused: too long, too many levels', async () => {
    await using subject = await startEmbedded();
    await send(unix(subject), connectPacket('x'), publishPacket('t'.repeat(5_000), Buffer.alloc(1)));
    await send(unix(subject), connectPacket('x'), publishPacket('a/'.repeat(2_000), Buffer.alloc(1)));
    await send(tcp(subject), connectPacket('x'), subscribePacket('a/'.repeat(2_000)));
    const socket = await connected(tcp(subject), 'long');
    socket.write(subscribePacket('f'.repeat(5_000), 'fine'));
    const [suback]: Buffer[] = await once(socket, 'data');
    expect(suback).toEqual(Buffer.of(0x90, 4, 0, 7, 0x80, 0));
    socket.destroy();
    await until(() => refused(subject, 'topic') === 2, 'the long ones were not counted');
    await until(() => refused(subject, 'malformed') === 2, 'the deep ones were not counted');
    await expectAlive(subject);
  });
});
