import { appendFile, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { BusClient } from '@infrakit/bus';
import type { Event } from '@infrakit/core';
import { metadataInterface, testingContext } from '@infrakit/spi';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startHere, type TemporaryHome, temporaryHome } from '../e2e/hosts.ts';
import { brokerOf, eventually } from '../e2e/operator.ts';
import { follow, openListener } from './event-listener.ts';

let home: TemporaryHome;
let file: string;
let host: Awaited<ReturnType<typeof startHere>>;
const ends: (() => unknown)[] = [];

beforeEach(async () => {
  home = await temporaryHome();
  file = join(home.path, 'some.log');
  await writeFile(file, '');
  host = await startHere(['time', 'tailer'], {
    home: home.path,
    pluginOptions: { tailer: { Files: [{ Path: file }] } },
  });
});
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
  await host.stop();
  await home[Symbol.asyncDispose]();
});

/** Somebody who listens, as the command line does. */
const client = async (): Promise<BusClient> => {
  const opened = await openListener(await brokerOf(home.path));
  ends.push(opened.close);
  return opened;
};

/** A client that subscribes to all events by hand and then reads no more. */
const deafSubscriber = async (): Promise<Socket> => {
  const socket = connect(Number(new URL(host.url ?? '').port), '127.0.0.1');
  ends.push(() => socket.destroy());
  const text = (value: string) => Buffer.concat([Buffer.from([0, value.length]), Buffer.from(value)]);
  const packet = (first: number, rest: Buffer) => Buffer.concat([Buffer.from([first, rest.length]), rest]);
  const answered = (first: number): Promise<void> =>
    new Promise((resolve) => {
      socket.once('data', (data: Buffer) => {
        expect(data[0]).toBe(first);
        resolve();
      });
    });
  socket.write(packet(0x10, Buffer.concat([text('MQTT'), Buffer.from([4, 2, 0, 0]), text('deaf')])));
  await answered(0x20);
  socket.write(packet(0x82, Buffer.concat([Buffer.from([0, 1]), text('infrakit/events/#'), Buffer.from([0])])));
  await answered(0x90);
  socket.pause();
  return socket;
};

const span = (events: readonly Event[]): number =>
  Date.parse(events.at(-1)?.Timestamp ?? '') - Date.parse(events[0]?.Timestamp ?? '');

describe('one who is slow or gone disturbs nobody', () => {
  test('GP-E1, EI-V5, GP §8.10: a subscriber that stops reading; others get at least 9 events of msec/100 a second, none missing', async () => {
    await deafSubscriber();
    const listener = follow(await client(), 'time', 'streams/msec/100');
    await listener.came(1);
    // More than the sockets in between hold.
    const line = `${'x'.repeat(16_000)}\n`;
    for (let n = 0; n < 40; n += 1) {
      await appendFile(file, line.repeat(20));
      await delay(50);
    }
    // Each publisher was held up for as long as the subscriber was there; a busy machine is slow for a while.
    const seen = listener.events().length;
    await eventually('twenty events at nine a second', 30_000, async () => {
      const events = listener.events().slice(seen).slice(-20);
      return (events.length === 20 && 19 / (span(events) / 1_000) >= 9) || undefined;
    });
    expect(listener.messages.filter(({ kind }) => kind !== 'event')).toEqual([]);
  });

  test('GP-E2, EI-V8: whoever stops hears no more, at once; the others go on', async () => {
    const bus = await client();
    const other = follow(bus, 'time', 'timer/msec/100');
    const leaving = follow(bus, 'time', 'streams/msec/100');
    await leaving.came(2);
    leaving.stop();
    const count = leaving.messages.length;
    const before = other.events().length;
    await other.came(before + 3);
    expect(leaving.messages).toHaveLength(count);
    expect(other.messages.filter(({ kind }) => kind !== 'event')).toEqual([]);
  });
});

describe('the tailer (GP §3.4)', () => {
  test('GP-E10, EI-V11: metadata holds the last line of each file', async () => {
    const bus = await client();
    const lines = follow(bus, 'tailer', '.');
    await eventually('a line', 30_000, async () => {
      await appendFile(file, 'the last\n');
      return lines.events().length > 0 || undefined;
    });
    const metadata = bus.plugins.resolve(metadataInterface, 'tailer');
    expect((await metadata.get({ path: 'current' }, testingContext())).value).toEqual({ [file]: 'the last' });
  });

  test('GP-E14: lines come in order, each with the time it was read; stopping in the middle of them is orderly', async () => {
    const bus = await client();
    const lines = follow(bus, 'tailer', '.');
    await eventually('it listens', 30_000, async () => {
      await appendFile(file, 'begin\n');
      return lines.events().length > 0 || undefined;
    });
    const numbers = Array.from({ length: 500 }, (_, n) => `line ${n}`);
    await appendFile(file, `${numbers.join('\n')}\n`);
    await eventually(
      'all lines',
      30_000,
      async () => lines.events().some(({ Data }) => Data === 'line 499') || undefined,
    );
    expect(lines.events().flatMap(({ Data }) => (String(Data).startsWith('line ') ? [Data] : []))).toEqual(numbers);
    const times = lines.events().map(({ Timestamp }) => Timestamp);
    expect(times).toEqual([...times].sort());

    let isOver = false;
    const writing = (async () => {
      while (!isOver) await appendFile(file, 'more\n');
    })();
    const ticks = follow(bus, 'time', 'streams/msec/100');
    await ticks.came(1);
    await host.stopPlugin('tailer');
    // What was read by then may still be on its way; what is written from then on is not read.
    await eventually('no more lines', 30_000, async () => {
      const { length } = lines.events();
      await ticks.came(ticks.events().length + 5);
      return lines.events().length === length || undefined;
    });
    isOver = true;
    await writing;
    expect(host.status().plugins.map(({ name }) => name)).toEqual(['time']);
  });
});
