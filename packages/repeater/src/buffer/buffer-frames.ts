import { ackFrame, maxHeaderBytes, packetType, writeLength } from '../mqtt-frame.ts';
import type { KeptMessage } from './buffer-record.ts';

/** CONNACK of 3.1.1: whether there was a session, and a return code [MQTT-3.2.2-1]. */
export const connackFrame = (hadSession: boolean, code = 0): Buffer =>
  Buffer.from([packetType.connack << 4, 2, hadSession ? 1 : 0, code]);

/** PINGRESP [MQTT-3.13.1]. */
export const pingResponse = Buffer.from([packetType.pingresp << 4, 0]);

/** PUBREL [MQTT-3.6.1-1]. */
export const releaseFrame = (id: number): Buffer => ackFrame((packetType.pubrel << 4) | 2, id);

/** What clients send that is no message. */
export const clientPacket = { connect: 1, subscribe: 8, unsubscribe: 10, pingreq: 12, disconnect: 14 } as const;

/** The quality of service in the first byte of a PUBLISH [MQTT-3.3.1.2]. */
export const qosOf = (flags: number): number => (flags >> 1) & 3;

const dupBit = 8;

/** The PUBLISH of a kept message under a packet id of ours; `isAgain`: it may have been sent before [MQTT-3.3.1-1]. */
export const publishFrame = ({ flags, topic, payload }: KeptMessage, id: number, isAgain: boolean): Buffer => {
  const qos = qosOf(flags);
  const length = 2 + topic.length + (qos > 0 ? 2 : 0) + payload.length;
  const out = Buffer.allocUnsafe(maxHeaderBytes + length);
  out[0] = qos > 0 && isAgain ? flags | dupBit : flags & ~dupBit;
  let at = writeLength(out, 1, length);
  at = out.writeUInt16BE(topic.length, at);
  at += topic.copy(out, at);
  if (qos > 0) at = out.writeUInt16BE(id, at);
  at += payload.copy(out, at);
  return out.subarray(0, at);
};

/** What stands in a PUBLISH of 3.1.1 whose body is from `body` to `end`; it shares the buffer's memory. */
export const readPublish = (
  buffer: Buffer,
  start: number,
  body: number,
  end: number,
): Pick<KeptMessage, 'flags' | 'id' | 'topic' | 'payload'> => {
  const flags = buffer[start] ?? 0;
  const topicEnd = body + 2 + buffer.readUInt16BE(body);
  const isNumbered = qosOf(flags) > 0;
  return {
    flags,
    id: isNumbered ? buffer.readUInt16BE(topicEnd) : 0,
    topic: buffer.subarray(body + 2, topicEnd),
    payload: buffer.subarray(topicEnd + (isNumbered ? 2 : 0), end),
  };
};
