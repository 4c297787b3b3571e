import { cpSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { generate } from 'mqtt-packet';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { recordingLog } from '../../../../test/host/recording-log.ts';
import { type FrameVisitor, frameCutter } from '../wire/frame-cutter.ts';
import { ackFrame, packetType } from '../wire/mqtt-frame.ts';
import { readPublish, releaseFrame } from './buffer-frames.ts';
import { bufferInlet } from './buffer-inlet.ts';
import { bufferOutlet } from './buffer-outlet.ts';
import { openDiskBuffer } from './disk-buffer.ts';

type Send = (frame: Buffer) => void;

const { connack, publish, puback, pubrec, pubrel, pubcomp } = packetType;
const connectFrame = generate({ cmd: 'connect', clientId: 'x', protocolId: 'MQTT', protocolVersion: 4, clean: false });
const payloadOf = (...frame: Parameters<FrameVisitor>): number => Number(readPublish(frame, 4).payload.toString());
const typeOf = (buffer: Buffer, start: number): number => (buffer[start] ?? 0) >> 4;

/**
 * A broker with a session for us in which `count` messages wait. Like mosquitto 2.0.11 it sends them all at once, and of those beyond
 * the first twenty it forgets over a restart that we have received them.
 */
const sourceOf = (count: number, qos: 1 | 2) => {
  let waiting = Array.from({ length: count }, (_, n) => ({ id: n + 1, wasSent: false, isReleased: false }));
  return {
    isDone: () => waiting.length === 0,
    restart: () => {
      for (const one of waiting.slice(20)) one.isReleased = false;
    },
    take:
      (send: Send): FrameVisitor =>
      (buffer, start, body) => {
        const type = typeOf(buffer, start);
        if (type === connack) {
          for (const one of waiting) {
            const { id, wasSent } = one;
            const frame = {
              cmd: 'publish',
              topic: 'a',
              payload: `${id - 1}`,
              qos,
              messageId: id,
              retain: false,
            } as const;
            one.wasSent = true;
            send(one.isReleased ? releaseFrame(id) : generate({ ...frame, dup: wasSent }));
          }
          return;
        }
        const id = buffer.readUInt16BE(body);
        if (type === pubrec) {
          for (const one of waiting) if (one.id === id) one.isReleased = true;
          send(releaseFrame(id));
        } else if (type === puback || type === pubcomp) waiting = waiting.filter((one) => one.id !== id);
      },
  };
};

/** A broker that keeps what it has received from us and not passed on, and passes on what is released [MQTT-4.3.3-2]. */
const sinkOf = () => {
  const received = new Map<number, number>();
  const passed: number[] = [];
  return {
    passed,
    take:
      (send: Send): FrameVisitor =>
      (buffer, start, body, end) => {
        const type = typeOf(buffer, start);
        if (type === publish) {
          const { id, flags } = readPublish([buffer, start, body, end], 4);
          const number = payloadOf(buffer, start, body, end);
          if (((flags >> 1) & 3) === 1) {
            passed.push(number);
            send(ackFrame(puback << 4, id));
            return;
          }
          if (!received.has(id)) received.set(id, number);
          send(ackFrame(pubrec << 4, id));
        } else if (type === pubrel) {
          const id = buffer.readUInt16BE(body);
          const number = received.get(id);
          if (number !== undefined) passed.push(number);
          received.delete(id);
          send(ackFrame(pubcomp << 4, id));
        }
      },
  };
};

let root: string;
let lives = 0;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'crash-points-'));
  lives = 0;
});
afterEach(() => rm(root, { recursive: true, force: true }));

const folderOf = (life: number): string => join(root, `${life}`);

interface Scene {
  readonly source: ReturnType<typeof sourceOf>;
  readonly sink: ReturnType<typeof sinkOf>;
  readonly count: number;
}

/**
 * One life of a process between both brokers, until all is delivered, or until `dies` says of a frame that it is the last thing that
 * happens: it is lost. What is on the disk at that moment is what the next life finds. Tells whether it died.
 */
const live = async (
  { source, sink, count }: Scene,
  dies: (type: number, side: 'source' | 'sink') => boolean,
): Promise<boolean> => {
  const buffer = await openDiskBuffer({
    folder: folderOf(lives),
    fileBytes: () => 2_000,
    log: recordingLog().log,
    freed: () => undefined,
    failed: () => undefined,
  });
  const inlet = bufferInlet({
    buffer,
    share: { admit: () => true, free: () => undefined, hold: () => undefined, leave: () => undefined },
    room: { takes: () => true, wait: async () => undefined },
    nowMs: () => 1,
    dropped: () => undefined,
  }).stream;
  const outlet = bufferOutlet(buffer, { nowMs: () => 1, expired: () => undefined });
  const hasDied = await new Promise<boolean>((resolve, reject) => {
    let isOver = false;
    const end = (isDeath: boolean): void => {
      isOver = true;
      lives += isDeath ? 1 : 0;
      if (isDeath) cpSync(folderOf(lives - 1), folderOf(lives), { recursive: true });
      resolve(isDeath);
    };
    const connect = (stream: Duplex, side: 'source' | 'sink', take: (send: Send) => FrameVisitor): void => {
      const passes = (frame: Buffer, start: number): boolean => {
        if (isOver) return false;
        if (dies(typeOf(frame, start), side)) end(true);
        return !isOver;
      };
      const visit = take((frame) => {
        if (passes(frame, 0)) stream.write(frame);
      });
      const cut = frameCutter({ maxBytes: 10_000 });
      stream.on('error', reject).on('data', (chunk: Buffer) =>
        cut(chunk, (...frame) => {
          if (passes(frame[0], frame[1])) visit(...frame);
        }),
      );
      stream.write(connectFrame);
    };
    connect(inlet, 'source', source.take);
    connect(outlet, 'sink', sink.take);
    const look = (): void => {
      if (isOver) return;
      if (source.isDone() && sink.passed.length >= count && buffer.status().messages === 0) end(false);
      else setImmediate(look);
    };
    look();
  });
  inlet.destroy();
  outlet.destroy();
  await buffer.close();
  return hasDied;
};

const never = (): boolean => false;
/** Dies at the frame with this number. */
const at = (place: number) => {
  let seen = 0;
  return (): boolean => {
    seen += 1;
    return seen > place;
  };
};
const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

describe('a process with a buffer that is killed at any frame loses nothing (issue 6)', () => {
  test.each([1, 2] as const)(
    'QoS %i: whichever is lost with it, and again soon after; QoS 2 comes once',
    async (qos) => {
      const count = 4;
      for (let place = 0; ; place += 1) {
        const scene = { source: sourceOf(count, qos), sink: sinkOf(), count };
        const hasDied = await live(scene, at(place));
        if (hasDied && (await live(scene, at(place % 9)))) await live(scene, never);
        const { passed } = scene.sink;
        expect(qos === 2 ? passed : [...new Set(passed)], `killed at ${place}`).toEqual(upTo(count));
        if (!hasDied) return;
        await rm(root, { recursive: true, force: true });
      }
    },
    60_000,
  );

  test('QoS 2 comes once though the source is mosquitto 2.0.11, which forgets over a restart that more than twenty are received', async () => {
    const count = 60;
    const scene = { source: sourceOf(count, 2), sink: sinkOf(), count };
    // Each time messages are released, and the source does not learn of it.
    const dies = (type: number, side: string): boolean => side === 'source' && type === pubcomp;
    for (let life = 0; life < 4; life += 1) expect(await live(scene, dies)).toBe(true);
    scene.source.restart();
    await live(scene, never);
    expect(scene.sink.passed).toEqual(upTo(count));
  });
});
