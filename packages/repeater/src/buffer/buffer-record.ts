import { crc32 } from 'node:zlib';
import { z } from 'zod';

/** A message as it is kept: what stood in its PUBLISH, and when it came. */
export interface KeptMessage {
  /** Its place among all messages of its buffer, from 0. */
  readonly seq: number;
  readonly receivedMs: number;
  /** The first byte of its PUBLISH: QoS and retain flag. */
  readonly flags: number;
  /** The packet id that the source gave it; 0 at QoS 0. */
  readonly id: number;
  readonly topic: Buffer;
  /** Properties of MQTT 5, without their length; empty for none. */
  readonly properties: Buffer;
  readonly payload: Buffer;
}

const number = z.number().int().min(0);

/** All of a buffer's state except the messages themselves: it stands at the head of each of its files. */
export const BufferSnapshot = z.strictObject({
  nextSeq: number,
  /** All before it were sent or dropped, save those in `open`. */
  frontier: number,
  open: z.array(number),
  recorded: z.array(number),
  received: z.array(number),
  messages: number,
  bytes: number,
  isKnown: z.boolean(),
});
export type BufferSnapshot = z.infer<typeof BufferSnapshot>;

/** What happened to messages. */
export const BufferFact = z.union([
  /** The sink has all of it; `bytes` as it counts in the buffer. */
  z.strictObject({ done: number, bytes: number }),
  /** The sink has received a message of QoS 2 and waits for its release [MQTT-4.3.3-1]. */
  z.strictObject({ recorded: number }),
  /** The source has released the packet id of a message of QoS 2 [MQTT-4.3.3-2]. */
  z.strictObject({ released: number }),
  /** Messages from one place up to another were given up. */
  z.strictObject({ dropped: number, upTo: number, messages: number, bytes: number }),
  /** Whether the source's side has a session; what it had received is forgotten. */
  z.strictObject({ session: z.boolean() }),
  z.strictObject({ snapshot: BufferSnapshot }),
]);
export type BufferFact = z.infer<typeof BufferFact>;

/** A record with its size in the file. */
export type BufferRecord =
  | { readonly kind: 'message'; readonly message: KeptMessage; readonly bytes: number }
  | { readonly kind: 'fact'; readonly fact: BufferFact; readonly bytes: number };

const [messageKind, factKind] = [0x6d, 0x66];
/** Length and checksum of what follows. */
const headBytes = 8;
const messageHeadBytes = 1 + 6 + 6 + 1 + 2 + 2 + 4;

const framed = (bytes: number): Buffer => {
  const out = Buffer.allocUnsafe(headBytes + bytes);
  out.writeUInt32BE(bytes, 0);
  return out;
};

const sealed = (out: Buffer): Buffer => {
  out.writeUInt32BE(crc32(out.subarray(headBytes)), 4);
  return out;
};

/** How many bytes a message takes. */
export const messageBytes = (message: Pick<KeptMessage, 'topic' | 'properties' | 'payload'>): number =>
  headBytes + messageHeadBytes + message.topic.length + message.properties.length + message.payload.length;

/** A message as it stands in a file. */
export const encodeMessage = (message: KeptMessage): Buffer => {
  const { seq, receivedMs, flags, id, topic, properties, payload } = message;
  const out = framed(messageBytes(message) - headBytes);
  let at = out.writeUInt8(messageKind, headBytes);
  at = out.writeUIntBE(seq, at, 6);
  at = out.writeUIntBE(Math.max(0, Math.floor(receivedMs)), at, 6);
  at = out.writeUInt8(flags, at);
  at = out.writeUInt16BE(id, at);
  at = out.writeUInt16BE(topic.length, at);
  at = out.writeUInt32BE(properties.length, at);
  at += topic.copy(out, at);
  at += properties.copy(out, at);
  payload.copy(out, at);
  return sealed(out);
};

/** A fact as it stands in a file. */
export const encodeFact = (fact: BufferFact): Buffer => {
  const text = Buffer.from(JSON.stringify(fact));
  const out = framed(1 + text.length);
  out.writeUInt8(factKind, headBytes);
  text.copy(out, headBytes + 1);
  return sealed(out);
};

const decodeMessage = (body: Buffer): KeptMessage => {
  const topicEnd = messageHeadBytes + body.readUInt16BE(16);
  const propertiesEnd = topicEnd + body.readUInt32BE(18);
  return {
    seq: body.readUIntBE(1, 6),
    receivedMs: body.readUIntBE(7, 6),
    flags: body.readUInt8(13),
    id: body.readUInt16BE(14),
    topic: body.subarray(messageHeadBytes, topicEnd),
    properties: body.subarray(topicEnd, propertiesEnd),
    payload: body.subarray(propertiesEnd),
  };
};

/**
 * The record at a place: `needs` says how many bytes it takes to tell when there are too few, `damaged` that what stands
 * there is no record. A message shares the memory of the buffer.
 */
export const decodeRecord = (
  buffer: Buffer,
  at: number,
): BufferRecord | { readonly kind: 'partial'; readonly needs: number } | { readonly kind: 'damaged' } => {
  if (at + headBytes > buffer.length) return { kind: 'partial', needs: headBytes };
  const length = buffer.readUInt32BE(at);
  const bytes = headBytes + length;
  if (length === 0 || length > 0x20000000) return { kind: 'damaged' };
  if (at + bytes > buffer.length) return { kind: 'partial', needs: bytes };
  const body = buffer.subarray(at + headBytes, at + bytes);
  if (crc32(body) !== buffer.readUInt32BE(at + 4)) return { kind: 'damaged' };
  if (body[0] === messageKind) return { kind: 'message', message: decodeMessage(body), bytes };
  const fact = BufferFact.safeParse(JSON.parse(body.toString('utf8', 1)));
  return fact.success ? { kind: 'fact', fact: fact.data, bytes } : { kind: 'damaged' };
};
