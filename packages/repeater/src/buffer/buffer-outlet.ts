import { Duplex } from 'node:stream';
import { frameCutter } from '../wire/frame-cutter.ts';
import { ackFrame, packetType } from '../wire/mqtt-frame.ts';
import { stillValid } from './buffer-expiry.ts';
import {
  clientPacket,
  connackFrame,
  pingResponse,
  publishFrame,
  qosOf,
  readConnect,
  releaseFrame,
  subackFrame,
  type Version,
} from './buffer-frames.ts';
import type { DiskBuffer, UnderWay } from './disk-buffer.ts';

const maxFrameBytes = 64 * 1024;

export interface OutletDeps {
  readonly nowMs: () => number;
  /** A message of a topic has waited for longer than its publisher wanted. */
  readonly expired: (topic: string) => void;
}

/**
 * The end of a buffer that messages come out of: looks like a broker with a session of ours, in which those messages wait that
 * are not acknowledged. Those under way come again on a new connection, in their order and under their packet ids
 * [MQTT-4.4.0-1, MQTT-4.6.0-1]. Only one is open at a time.
 */
export const bufferOutlet = (buffer: DiskBuffer, { nowMs, expired }: OutletDeps): Duplex => {
  const cut = frameCutter({ maxBytes: maxFrameBytes });
  let hasRoom = true;
  let isPumping = false;
  let isConnected = false;
  let isAgain = false;
  let version: Version = 4;

  const fail = (error: unknown): void => void stream.destroy(error instanceof Error ? error : new Error(String(error)));
  const send = (frame: Buffer): void => {
    if (!stream.destroyed && !stream.push(frame)) hasRoom = false;
  };
  const finish = (one: UnderWay | undefined): void => {
    if (one !== undefined) buffer.done(one).catch(fail);
  };

  const deliver = (one: UnderWay, wasSent: boolean): void => {
    const waitedMs = nowMs() - one.message.receivedMs;
    const properties = one.isRecorded ? one.message.properties : stillValid(one.message.properties, waitedMs);
    // One that may have been sent is not taken back: the sink may have it.
    if (properties === null && !wasSent) {
      expired(one.message.topic.toString('utf8'));
      finish(one);
      return;
    }
    const message = { ...one.message, properties: properties ?? one.message.properties };
    const frame = one.isRecorded
      ? releaseFrame(one.id)
      : publishFrame(message, { id: one.id, isAgain: wasSent, version });
    // Nobody acknowledges one of QoS 0: so that it never comes twice it is done before it is sent [MQTT-4.3.1].
    if (qosOf(one.message.flags) === 0) buffer.done(one).then(() => send(frame), fail);
    else send(frame);
  };

  const pump = async (): Promise<void> => {
    if (isPumping || !isConnected) return;
    isPumping = true;
    do {
      isAgain = false;
      while (hasRoom && !stream.destroyed) {
        const one = await buffer.take();
        if (one === null) break;
        if (stream.destroyed) return;
        deliver(one, false);
      }
    } while (isAgain && hasRoom && !stream.destroyed);
    isPumping = false;
  };
  const more = (): void => {
    isAgain = true;
    pump().catch(fail);
  };

  const connected = (): void => {
    send(connackFrame(!buffer.isFresh(), version));
    for (const one of buffer.underWay()) deliver(one, true);
    isConnected = true;
    buffer.onMore(more);
    more();
  };

  const recorded = (id: number): void => {
    const one = buffer.find(id);
    // One that is no longer known here was done before.
    if (one === undefined) send(releaseFrame(id));
    else buffer.recorded(one).then(() => send(releaseFrame(id)), fail);
  };

  const take = (bytes: Buffer, start: number, body: number): void => {
    switch ((bytes[start] ?? 0) >> 4) {
      case clientPacket.connect:
        ({ version } = readConnect(bytes, body));
        connected();
        break;
      case clientPacket.subscribe:
        send(subackFrame(bytes.readUInt16BE(body), version));
        break;
      case clientPacket.unsubscribe:
        send(ackFrame(packetType.unsuback << 4, bytes.readUInt16BE(body)));
        break;
      case packetType.puback:
      case packetType.pubcomp:
        finish(buffer.find(bytes.readUInt16BE(body)));
        break;
      case packetType.pubrec:
        recorded(bytes.readUInt16BE(body));
        break;
      case clientPacket.pingreq:
        send(pingResponse);
        break;
      default:
        break;
    }
  };

  const stream = new Duplex({
    read: () => {
      hasRoom = true;
      more();
    },
    write: (chunk: Buffer, _encoding, done) => {
      try {
        cut(chunk, take);
        done();
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
      }
    },
  });
  return stream;
};
