import { ackFrame, maxHeaderBytes, packetType, readLength, writeLength } from '../wire/mqtt-frame.ts';
import type { KeptMessage } from './buffer-record.ts';

/** What a connection speaks. */
export type Version = 4 | 5;

/** CONNACK: whether there was a session [MQTT-3.2.2-1]; in MQTT 5 with no properties. */
export const connackFrame = (hadSession: boolean, version: Version): Buffer => {
  const body = [hadSession ? 1 : 0, 0, ...(version === 5 ? [0] : [])];
  return Buffer.from([packetType.connack << 4, body.length, ...body]);
};

/** The version and the flags in a CONNECT, behind the protocol's name [MQTT-3.1.2.3]. */
export const readConnect = (buffer: Buffer, body: number): { readonly version: Version; readonly isClean: boolean } => {
  const at = body + 2 + buffer.readUInt16BE(body);
  return { version: buffer[at] === 5 ? 5 : 4, isClean: ((buffer[at + 1] ?? 0) & 2) !== 0 };
};

/** SUBACK that grants one filter with QoS 2. */
export const subackFrame = (id: number, version: Version): Buffer => {
  const body = [id >> 8, id & 0xff, ...(version === 5 ? [0] : []), 2];
  return Buffer.from([packetType.suback << 4, body.length, ...body]);
};

/** PINGRESP [MQTT-3.13.1]. */
export const pingResponse = Buffer.from([packetType.pingresp << 4, 0]);

/** PUBREL [MQTT-3.6.1-1]. */
export const releaseFrame = (id: number): Buffer => ackFrame((packetType.pubrel << 4) | 2, id);

/** What clients send that is no message. */
export const clientPacket = { connect: 1, subscribe: 8, unsubscribe: 10, pingreq: 12, disconnect: 14 } as const;

/** The quality of service in the first byte of a PUBLISH [MQTT-3.3.1.2]. */
export const qosOf = (flags: number): number => (flags >> 1) & 3;

const dupBit = 8;

/** A frame in what was read: from `start`, its body from `body` to `end`. */
export type Frame = readonly [buffer: Buffer, start: number, body: number, end: number];

/** How a message is sent. */
export interface SentAs {
  /** Its packet id, of ours. */
  readonly id: number;
  /** Whether it may have been sent before [MQTT-3.3.1-1]. */
  readonly isAgain: boolean;
  readonly version: Version;
}

/** The PUBLISH of a kept message; its properties go along in MQTT 5. */
export const publishFrame = (
  { flags, topic, properties, payload }: KeptMessage,
  { id, isAgain, version }: SentAs,
): Buffer => {
  const qos = qosOf(flags);
  const told = Buffer.alloc(version === 5 ? 4 : 0);
  const toldBytes = version === 5 ? writeLength(told, 0, properties.length) + properties.length : 0;
  const length = 2 + topic.length + (qos > 0 ? 2 : 0) + toldBytes + payload.length;
  const out = Buffer.allocUnsafe(maxHeaderBytes + length);
  out[0] = qos > 0 && isAgain ? flags | dupBit : flags & ~dupBit;
  let at = writeLength(out, 1, length);
  at = out.writeUInt16BE(topic.length, at);
  at += topic.copy(out, at);
  if (qos > 0) at = out.writeUInt16BE(id, at);
  if (version === 5) {
    at += told.copy(out, at, 0, toldBytes - properties.length);
    at += properties.copy(out, at);
  }
  at += payload.copy(out, at);
  return out.subarray(0, at);
};

/** What of a kept message stands in its PUBLISH. */
export type Content = Omit<KeptMessage, 'seq' | 'receivedMs'>;

/** What stands in a PUBLISH; it shares the buffer's memory. */
export const readPublish = ([buffer, start, body, end]: Frame, version: Version): Content => {
  const flags = buffer[start] ?? 0;
  const topicEnd = body + 2 + buffer.readUInt16BE(body);
  const isNumbered = qosOf(flags) > 0;
  const idEnd = topicEnd + (isNumbered ? 2 : 0);
  const { length, behind } = version === 5 ? readLength(buffer, idEnd, end) : { length: 0, behind: idEnd };
  return {
    flags,
    id: isNumbered ? buffer.readUInt16BE(topicEnd) : 0,
    topic: buffer.subarray(body + 2, topicEnd),
    properties: buffer.subarray(behind, behind + length),
    payload: buffer.subarray(behind + length, end),
  };
};
