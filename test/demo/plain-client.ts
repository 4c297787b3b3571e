import { once } from 'node:events';
import { connect } from 'node:net';

/** A message as a plain client got it. */
export interface PlainMessage {
  readonly topic: string;
  readonly payload: string;
  readonly isRetained: boolean;
}

/** A client that knows MQTT 3.1.1 and nothing of this product. */
export interface PlainClient {
  readonly messages: readonly PlainMessage[];
  readonly close: () => void;
}

const text = (value: string): Buffer => {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 0xff]), bytes]);
};

/** A packet: the first byte, the length of the rest in 7-bit groups [MQTT-2.2.3], the rest. */
const packet = (firstByte: number, rest: Buffer): Buffer => {
  const length = [];
  for (let left = rest.length; length.length === 0 || left > 0; left >>= 7)
    length.push(left > 127 ? left | 0x80 : left);
  return Buffer.concat([Buffer.from([firstByte, ...length.map((group) => group & 0xff)]), rest]);
};

const connectPacket = (clientId: string): Buffer =>
  packet(0x10, Buffer.concat([text('MQTT'), Buffer.from([4, 2, 0, 0]), text(clientId)]));

const subscribePacket = (filter: string): Buffer =>
  packet(0x82, Buffer.concat([Buffer.from([0, 1]), text(filter), Buffer.from([0])]));

/** The first whole packet of some bytes, and what is behind it. */
const firstPacket = (
  bytes: Buffer,
): { readonly firstByte: number; readonly rest: Buffer; readonly behind: Buffer } | undefined => {
  let [length, at] = [0, 1];
  for (let shift = 0; ; shift += 7, at += 1) {
    const group = bytes[at];
    if (group === undefined) return undefined;
    length += (group & 0x7f) * 2 ** shift;
    if (group < 0x80) break;
  }
  const [start, end] = [at + 1, at + 1 + length];
  const firstByte = bytes[0];
  if (firstByte === undefined || bytes.length < end) return undefined;
  return { firstByte, rest: bytes.subarray(start, end), behind: bytes.subarray(end) };
};

/** Subscribes to one filter with QoS 0 and keeps every message. Resolves when the broker has granted it. */
export const subscribePlainly = async (host: string, port: number, filter: string): Promise<PlainClient> => {
  const socket = connect({ host, port });
  await once(socket, 'connect');
  const messages: PlainMessage[] = [];
  let bytes = Buffer.alloc(0);
  await new Promise<void>((resolve, reject) => {
    socket.on('error', reject).on('close', () => reject(new Error('the broker closed the connection')));
    socket.on('data', (data: Buffer) => {
      bytes = Buffer.concat([bytes, data]);
      for (let next = firstPacket(bytes); next !== undefined; next = firstPacket(bytes)) {
        const { firstByte, rest, behind } = next;
        bytes = Buffer.from(behind);
        const kind = firstByte >> 4;
        if (kind === 2) socket.write(subscribePacket(filter));
        else if (kind === 9) resolve();
        else if (kind === 3) {
          const end = 2 + rest.readUInt16BE(0);
          const [topic, payload] = [rest.toString('utf8', 2, end), rest.toString('utf8', end)];
          messages.push({ topic, payload, isRetained: (firstByte & 1) === 1 });
        }
      }
    });
    socket.write(connectPacket('plain-client'));
  });
  return { messages, close: () => socket.destroy() };
};
