/** A message on its way to a reader. */
export interface ReaderPublish {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly qos: 0 | 1 | 2;
  readonly retain: boolean;
  readonly dup: boolean;
  /** 0 until it is sent, and at QoS 0. */
  messageId: number;
}

/** A packet for a reader: a publish, the packet id of a PUBREL, or a packet as it is. */
export type ReaderPacket = ReaderPublish | number | Buffer;

/** The most bytes of a header: type and flags, length, topic length, packet id [MQTT-3.3.2]. */
const headBytes = 9;

const spaceFor = (packet: ReaderPacket): number => {
  if (typeof packet === 'number') return 4;
  return 'topic' in packet ? headBytes + 3 * packet.topic.length + packet.payload.length : packet.length;
};

const writePublish = (out: Buffer, start: number, packet: ReaderPublish): number => {
  const { topic, payload, qos, retain, dup, messageId } = packet;
  // Most topics are ASCII, one byte a character.
  const topicBytes = Buffer.byteLength(topic);
  let left = 2 + topicBytes + (qos > 0 ? 2 : 0) + payload.length;
  let at = out.writeUInt8(0x30 | (dup ? 8 : 0) | (qos << 1) | (retain ? 1 : 0), start);
  for (; left > 127; left >>>= 7) at = out.writeUInt8((left & 127) | 128, at);
  at = out.writeUInt8(left, at);
  at = out.writeUInt16BE(topicBytes, at);
  at += out.write(topic, at, 'utf8');
  if (qos > 0) at = out.writeUInt16BE(messageId, at);
  out.set(payload, at);
  return at + payload.length;
};

/** Writes packets one after the other, at least one and as many as fit in about `maxBytes`; says how many. */
export const frameReaderPackets = (
  packets: readonly ReaderPacket[],
  first: number,
  maxBytes: number,
): { readonly bytes: Buffer; readonly next: number } => {
  let space = 0;
  let next = first;
  while (next < packets.length && (next === first || space < maxBytes)) {
    const packet = packets[next];
    if (packet !== undefined) space += spaceFor(packet);
    next += 1;
  }
  const out = Buffer.allocUnsafe(space);
  let at = 0;
  for (let n = first; n < next; n += 1) {
    const packet = packets[n];
    if (packet === undefined) continue;
    if (typeof packet === 'number') at = out.writeUInt16BE(packet, out.writeUInt16BE(0x6202, at));
    else if ('topic' in packet) at = writePublish(out, at, packet);
    else at += packet.copy(out, at);
  }
  return { bytes: out.subarray(0, at), next };
};
