/** A packet of MQTT 3.1.1 by its first byte and body [MQTT-2.2.3]. */
const packet = (first: number, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  const head = [first];
  let left = body.length;
  for (; left > 127; left >>>= 7) head.push((left & 127) | 128);
  head.push(left);
  return Buffer.concat([Buffer.from(head), body]);
};

const uint16 = (value: number): Buffer => Buffer.from([value >> 8, value & 0xff]);

const text = (value: string): Buffer => Buffer.concat([uint16(Buffer.byteLength(value)), Buffer.from(value)]);

/** CONNECT with a clean session and no keepalive. */
export const connectPacket = (clientId: string): Buffer =>
  packet(0x10, text('MQTT'), Buffer.from([4, 2, 0, 0]), text(clientId));

export const subscribePacket = (filter: string, qos: number): Buffer =>
  packet(0x82, uint16(1), text(filter), Buffer.from([qos]));

/** PUBLISH; its packet id, if it has one, stands right before the payload. */
export const publishPacket = (topic: string, payload: Buffer, qos: number): Buffer =>
  packet(0x30 | (qos << 1), text(topic), qos > 0 ? uint16(1) : Buffer.alloc(0), payload);

/** Is told of each packet: its type, the packet, and where its body begins. */
export type OnPacket = (type: number, packet: Buffer, body: number) => void;

/** Cuts a stream into packets. */
export const packetCutter = (onPacket: OnPacket): ((chunk: Buffer) => void) => {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    const buffer = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    while (at + 2 <= buffer.length) {
      let body = at + 1;
      let length = 0;
      let shift = 0;
      let byte = 128;
      while (body < buffer.length && byte > 127) {
        byte = buffer[body] ?? 0;
        length |= (byte & 127) << shift;
        shift += 7;
        body += 1;
      }
      if (byte > 127 || body + length > buffer.length) break;
      onPacket((buffer[at] ?? 0) >> 4, buffer.subarray(at, body + length), body - at);
      at = body + length;
    }
    rest = buffer.subarray(at);
  };
};

/** Acknowledgements that are sent in one write. */
export const ackBatch = (send: (bytes: Buffer) => void) => {
  let bytes: number[] = [];
  return {
    add: (first: number, id: number): void => void bytes.push(first, 2, id >> 8, id & 0xff),
    flush: (): void => {
      if (bytes.length > 0) send(Buffer.from(bytes));
      bytes = [];
    },
  };
};
