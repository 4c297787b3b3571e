import { Duplex } from 'node:stream';
import { frameCutter } from '../wire/frame-cutter.ts';
import { ackFrame, packetType } from '../wire/mqtt-frame.ts';
import { bufferAcks } from './buffer-acks.ts';
import type { BudgetShare } from './buffer-budget.ts';
import {
  type Content,
  clientPacket,
  connackFrame,
  type Frame,
  pingResponse,
  qosOf,
  readConnect,
  readPublish,
  type Version,
} from './buffer-frames.ts';
import { messageBytes } from './buffer-record.ts';
import type { DiskBuffer } from './disk-buffer.ts';
import type { DiskRoom } from './disk-room.ts';
import { maxUnacknowledged } from './intake-window.ts';

/** The end of a buffer that messages go into. */
export interface BufferInlet {
  /** Looks like a broker that acknowledges a message when it is on the disk (DESIGN: acknowledged means durable). */
  readonly stream: Duplex;
  /** When it last took nothing because there was no room, in ms; 0 for never. */
  readonly heldMs: () => number;
}

export interface InletDeps {
  readonly buffer: DiskBuffer;
  readonly share: BudgetShare;
  readonly room: DiskRoom;
  readonly nowMs: () => number;
  /** There was no room for a message of a topic, and the source has no more of it. */
  readonly dropped: (topic: string) => void;
}

const maxFrameBytes = 268_435_455 + 5;

/** An inlet for one connection. */
export const bufferInlet = ({ buffer, share, room, nowMs, dropped }: InletDeps): BufferInlet => {
  const cut = frameCutter({ maxBytes: maxFrameBytes });
  const over = new AbortController();
  let version: Version = 4;
  let isHeld = false;
  let heldMs = 0;
  /** Messages of QoS 1 that are on their way to the disk. */
  let unsaved = 0;

  const fail = (error: unknown): void => void stream.destroy(error instanceof Error ? error : new Error(String(error)));
  const answer = (frame: Buffer): void => {
    if (!stream.destroyed) stream.push(frame);
  };
  const acks = bufferAcks(answer, fail);

  const connect = (isClean: boolean): void => {
    const wasKnown = buffer.isKnown();
    const durable = wasKnown === !isClean ? Promise.resolve() : buffer.setKnown(!isClean);
    acks.acknowledge(durable, connackFrame(!isClean && wasKnown, version));
  };

  /** Waits for something that may take its time, and says so. */
  const held = async <T>(work: Promise<T>): Promise<T> => {
    isHeld = true;
    try {
      return await work;
    } finally {
      isHeld = false;
      heldMs = nowMs();
    }
  };
  const admits = async (message: Content): Promise<boolean> => {
    const bytes = messageBytes(message);
    while (!room.takes(bytes) && !over.signal.aborted) await held(room.wait(over.signal));
    const answered = share.admit(bytes, over.signal);
    return typeof answered === 'boolean' ? answered : held(answered);
  };

  const publish = async (message: Content): Promise<void> => {
    const { flags, id } = message;
    const qos = qosOf(flags);
    const acknowledge = (durable: Promise<void>, sent?: () => void): void => {
      if (qos === 0) durable.then(sent).catch(fail);
      else if (qos === 1) acks.acknowledge(durable, ackFrame(packetType.puback << 4, id), sent);
      else acks.receive(durable, id, ackFrame(packetType.pubrec << 4, id), sent);
    };
    // Delivered again before it was released: it is here already [MQTT-4.3.3-2].
    const isThere = qos === 2 ? buffer.received(id) : null;
    if (isThere !== null) {
      acknowledge(isThere);
      return;
    }
    if (!(await admits(message))) {
      if (over.signal.aborted) return;
      // Until it is acknowledged the source has it still, sends it again, and there may be room by then.
      acknowledge(Promise.resolve(), () => {
        if (!over.signal.aborted) dropped(message.topic.toString('utf8'));
      });
      return;
    }
    const durable = buffer.add({ ...message, receivedMs: nowMs() });
    acknowledge(durable);
    if (qos === 1) {
      unsaved += 1;
      const saved = (): void => {
        unsaved -= 1;
      };
      durable.then(saved, saved);
    }
    // A source that is faster than the disk is not read meanwhile. Who acknowledges it says what went wrong.
    if (buffer.isBehind() || unsaved >= maxUnacknowledged) await durable.catch(() => undefined);
  };

  const take = async (frame: Frame): Promise<void> => {
    const [bytes, start, body] = frame;
    switch ((bytes[start] ?? 0) >> 4) {
      case clientPacket.connect: {
        const wish = readConnect(bytes, body);
        version = wish.version;
        connect(wish.isClean);
        break;
      }
      case packetType.publish:
        await publish(readPublish(frame, version));
        break;
      case packetType.pubrel: {
        const id = bytes.readUInt16BE(body);
        acks.complete(buffer.released(id), id, ackFrame(packetType.pubcomp << 4, id));
        break;
      }
      case clientPacket.pingreq:
        answer(pingResponse);
        break;
      default:
        break;
    }
  };

  const stream = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      const frames: Frame[] = [];
      const run = async (): Promise<void> => {
        cut(chunk, (...frame) => frames.push(frame));
        for (const frame of frames) if (!over.signal.aborted) await take(frame);
      };
      run().then(() => done(), done);
    },
    destroy: (error, done) => {
      over.abort();
      done(error);
    },
  });
  return { stream, heldMs: () => (isHeld ? nowMs() : heldMs) };
};
