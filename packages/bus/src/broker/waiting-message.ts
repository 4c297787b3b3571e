/** Where a message that waits for a client is kept: `outgoing:<client>:<run of the broker>:<number>`, in the order of the numbers. */
export const waitingKey = (clientId: string, run: string, number: number): string =>
  `outgoing:${encodeURIComponent(clientId)}:${run}:${`${number}`.padStart(16, '0')}`;

/** What a key of `waitingKey` says of its message. */
const originOf = (key: string): { readonly run: string; readonly number: number } => {
  const [, , run = '', number = '0'] = key.split(':');
  return { run, number: Number(number) };
};

/** A message as it waits for a client with a lasting session. */
export interface WaitingMessage {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly qos: number;
  readonly retain: boolean;
  /** 0 until it was sent. */
  readonly messageId: number;
}

/** What the names and numbers take, with a margin. */
const headBytes = 192;

/** Writes MessagePack. */
interface Encoder {
  readonly map: (size: number) => Encoder;
  /** ASCII, less than 32 bytes. */
  readonly word: (text: string) => Encoder;
  readonly string: (text: string) => Encoder;
  readonly bytes: (bytes: Uint8Array) => Encoder;
  readonly number: (value: number) => Encoder;
  readonly flag: (value: boolean) => Encoder;
  readonly end: () => Buffer;
}

/**
 * MessagePack, the fields as the persistence of aedes writes and reads them, so that either of us goes on where the other has
 * ended. By hand: it is on the way of each message.
 */
const encoder = (textBytes: number): Encoder => {
  const out = Buffer.allocUnsafe(headBytes + textBytes);
  let at = 0;
  const self: Encoder = {
    map: (size: number) => {
      at = out.writeUInt8(0x80 | size, at);
      return self;
    },
    /** ASCII, less than 32 bytes. */
    word: (text: string) => {
      at = out.writeUInt8(0xa0 | text.length, at);
      at += out.write(text, at, 'latin1');
      return self;
    },
    string: (text: string) => {
      const length = out.write(text, at + 5, 'utf8');
      at = out.writeUInt32BE(length, out.writeUInt8(0xdb, at)) + length;
      return self;
    },
    bytes: (bytes: Uint8Array) => {
      at = out.writeUInt32BE(bytes.length, out.writeUInt8(0xc6, at));
      out.set(bytes, at);
      at += bytes.length;
      return self;
    },
    number: (value: number) => {
      if (value < 128) at = out.writeUInt8(value, at);
      else if (value < 2 ** 32) at = out.writeUInt32BE(value, out.writeUInt8(0xce, at));
      else at = out.writeDoubleBE(value, out.writeUInt8(0xcb, at));
      return self;
    },
    flag: (value: boolean) => {
      at = out.writeUInt8(value ? 0xc3 : 0xc2, at);
      return self;
    },
    end: (): Buffer => out.subarray(0, at),
  };
  return self;
};

/** A message that waits under a key. */
export const encodeWaiting = (key: string, message: WaitingMessage): Buffer => {
  const { run, number } = originOf(key);
  const { topic, payload, qos, retain, messageId } = message;
  return encoder(3 * (run.length + topic.length) + payload.length)
    .map(9)
    .word('cmd')
    .word('publish')
    .word('brokerId')
    .string(run)
    .word('brokerCounter')
    .number(number)
    .word('topic')
    .string(topic)
    .word('payload')
    .bytes(payload)
    .word('qos')
    .number(qos)
    .word('retain')
    .flag(retain)
    .word('dup')
    .flag(false)
    .word('messageId')
    .number(messageId)
    .end();
};

/** What waits in the place of a QoS 2 message that the client has: its PUBREL [MQTT-4.3.3-1]. */
export const encodeReleased = (key: string, messageId: number): Buffer => {
  const { run, number } = originOf(key);
  return encoder(3 * run.length)
    .map(4)
    .word('cmd')
    .word('pubrel')
    .word('brokerId')
    .string(run)
    .word('brokerCounter')
    .number(number)
    .word('messageId')
    .number(messageId)
    .end();
};

/** A value at `at` of what was encoded, and the place behind it; an unknown kind of value is an error. */
const valueAt = (from: Buffer, at: number): { readonly value: unknown; readonly end: number } => {
  const kind = from.readUInt8(at);
  const text = (start: number, length: number) => ({
    value: from.toString('utf8', start, start + length),
    end: start + length,
  });
  const bytes = (start: number, length: number) => ({
    value: from.subarray(start, start + length),
    end: start + length,
  });
  if (kind < 0x80) return { value: kind, end: at + 1 };
  if (kind >= 0xa0 && kind < 0xc0) return text(at + 1, kind - 0xa0);
  switch (kind) {
    case 0xc0:
      return { value: null, end: at + 1 };
    case 0xc2:
    case 0xc3:
      return { value: kind === 0xc3, end: at + 1 };
    case 0xc4:
      return bytes(at + 2, from.readUInt8(at + 1));
    case 0xc5:
      return bytes(at + 3, from.readUInt16BE(at + 1));
    case 0xc6:
      return bytes(at + 5, from.readUInt32BE(at + 1));
    case 0xcb:
      return { value: from.readDoubleBE(at + 1), end: at + 9 };
    case 0xcc:
      return { value: from.readUInt8(at + 1), end: at + 2 };
    case 0xcd:
      return { value: from.readUInt16BE(at + 1), end: at + 3 };
    case 0xce:
      return { value: from.readUInt32BE(at + 1), end: at + 5 };
    case 0xcf:
      return { value: Number(from.readBigUInt64BE(at + 1)), end: at + 9 };
    case 0xd9:
      return text(at + 2, from.readUInt8(at + 1));
    case 0xda:
      return text(at + 3, from.readUInt16BE(at + 1));
    case 0xdb:
      return text(at + 5, from.readUInt32BE(at + 1));
    default:
      throw new RangeError(`a value of the kind ${kind}`);
  }
};

/** Fields by name of what was encoded here or by the persistence of aedes. Broken ones are a RangeError. */
const fieldsOf = (from: Buffer): ReadonlyMap<unknown, unknown> => {
  const kind = from.readUInt8(0);
  const isLarge = kind === 0xde;
  if (!isLarge && kind >> 4 !== 8) throw new RangeError(`no map but the kind ${kind}`);
  const fields = new Map<unknown, unknown>();
  let at = isLarge ? 3 : 1;
  for (let left = isLarge ? from.readUInt16BE(1) : kind & 15; left > 0; left -= 1) {
    const name = valueAt(from, at);
    const field = valueAt(from, name.end);
    fields.set(name.value, field.value);
    at = field.end;
  }
  return fields;
};

/** What waits, read back: null for what cannot be read. */
export const decodeWaiting = (from: Buffer): (WaitingMessage & { readonly stage: 'publish' | 'pubrel' }) | null => {
  try {
    const fields = fieldsOf(from);
    const [cmd, topic, payload] = [fields.get('cmd'), fields.get('topic'), fields.get('payload')];
    const messageId = Number(fields.get('messageId') ?? 0);
    if (cmd === 'pubrel') {
      return { stage: 'pubrel', topic: '', payload: Buffer.alloc(0), qos: 2, retain: false, messageId };
    }
    if (cmd !== 'publish' || typeof topic !== 'string' || !Buffer.isBuffer(payload)) return null;
    const [qos, retain] = [Number(fields.get('qos')), fields.get('retain') === true];
    return { stage: 'publish', topic, payload, qos, retain, messageId };
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
};
