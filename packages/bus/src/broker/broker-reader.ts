import { Duplex } from 'node:stream';
import { generate, type Packet, parser } from 'mqtt-packet';
import { frameReaderPackets, type ReaderPacket, type ReaderPublish } from './reader-frames.ts';

/** A filter and the QoS wanted for it. */
export interface ReaderFilter {
  readonly topic: string;
  readonly qos: 0 | 1 | 2;
}

/** What a reader asks of the broker. */
export interface ReaderDeps {
  /** Answers for each with the granted QoS, or 128 [MQTT-3.9.3]; `granted` is called when the answer is on its way. */
  readonly subscribe: (wanted: readonly ReaderFilter[]) => { readonly codes: number[]; readonly granted: () => void };
  readonly unsubscribe: (filters: readonly string[]) => void;
  /** The reader has the message: it need not be kept any more. */
  readonly acknowledged: (key: string | undefined) => void;
  /** The reader has the message but for its PUBREL, which is to be kept in its place and may go then. */
  readonly received: (key: string, messageId: number, go: () => void) => void;
  readonly sent: (bytes: number) => void;
  readonly ended: () => void;
}

/** The broker's half of a reader. */
export interface Reader {
  /** The reader's half: MQTT 3.1.1 as if its CONNECT were accepted. Each write has whole packets. */
  readonly stream: Duplex;
  /**
   * Gives a message of QoS 1 or 2 a packet id, until it is acknowledged; false when all are in use. `key` is where it is kept,
   * undefined for one that is not.
   */
  readonly number: (message: ReaderPublish, key: string | undefined) => boolean;
  /** Takes a packet id back that nothing was sent with. */
  readonly forget: (messageId: number) => void;
  readonly send: (message: ReaderPublish) => void;
  /** A message that the reader had in its last connection, but for its PUBREL. */
  readonly release: (messageId: number, key: string) => void;
  /** Messages of QoS 1 and 2 that are not acknowledged. */
  readonly unacknowledged: () => number;
}

/** Frames for one read, in bytes. */
const chunkBytes = 128 * 1024;
const lastId = 65_535;
const [puback, pubrec, pubcomp] = [4, 5, 7];

/** One connection of a reader inside this process. */
export const brokerReader = (deps: ReaderDeps): Reader => {
  /** Where messages that are not acknowledged are kept, by packet id. */
  const held = new Map<number, string | undefined>();
  let outgoing: ReaderPacket[] = [];
  let isWanted = true;
  let isFlushing = false;
  let id = 0;

  const flush = (): void => {
    isFlushing = false;
    let next = 0;
    while (isWanted && next < outgoing.length && !stream.destroyed) {
      const framed = frameReaderPackets(outgoing, next, chunkBytes);
      next = framed.next;
      deps.sent(framed.bytes.length);
      isWanted = stream.push(framed.bytes);
    }
    outgoing = outgoing.slice(next);
  };
  /** What comes in one turn of the event loop is one chunk. */
  const flushSoon = (): void => {
    if (isFlushing || !isWanted || outgoing.length === 0) return;
    isFlushing = true;
    setImmediate(flush);
  };
  const send = (packet: ReaderPacket): void => {
    outgoing.push(packet);
    flushSoon();
  };

  const number: Reader['number'] = (message, key) => {
    if (held.size >= lastId) return false;
    // One that was sent before keeps its id [MQTT-4.4.0-1].
    if (message.messageId === 0) {
      do id = (id % lastId) + 1;
      while (held.has(id));
      message.messageId = id;
    }
    held.set(message.messageId, key);
    return true;
  };

  const onAck = (type: number, messageId: number): void => {
    if (type === pubrec) {
      const key = held.get(messageId);
      if (key === undefined) send(messageId);
      else deps.received(key, messageId, () => send(messageId));
      return;
    }
    const key = held.get(messageId);
    if (!held.delete(messageId)) return;
    deps.acknowledged(key);
  };

  const packets = parser();
  packets.on('packet', (packet: Packet) => {
    const { messageId = 0 } = packet;
    switch (packet.cmd) {
      case 'subscribe': {
        const { codes, granted } = deps.subscribe(packet.subscriptions);
        send(generate({ cmd: 'suback', messageId, granted: codes }));
        return granted();
      }
      case 'unsubscribe':
        deps.unsubscribe(packet.unsubscriptions);
        return send(generate({ cmd: 'unsuback', messageId, granted: [] }));
      case 'pingreq':
        return send(generate({ cmd: 'pingresp' }));
      case 'puback':
      case 'pubrec':
      case 'pubcomp':
        return onAck({ puback, pubrec, pubcomp }[packet.cmd], messageId);
      case 'disconnect':
        return void stream.destroy();
      default:
        stream.destroy(new Error(`a reader does not send ${packet.cmd}`));
    }
  });
  packets.on('error', (error) => stream.destroy(error));

  const stream = new Duplex({
    readableHighWaterMark: 2 * chunkBytes,
    read: () => {
      isWanted = true;
      flushSoon();
    },
    write: (chunk: Buffer, _encoding, done) => {
      let at = 0;
      // Acknowledgements are most of what comes, and all alike [MQTT-3.4.1].
      for (; at + 4 <= chunk.length && chunk[at + 1] === 2; at += 4) {
        const type = (chunk[at] ?? 0) >> 4;
        if (type !== puback && type !== pubrec && type !== pubcomp) break;
        onAck(type, chunk.readUInt16BE(at + 2));
      }
      if (at < chunk.length) packets.parse(chunk.subarray(at));
      done();
    },
    final: (done) => {
      done();
      stream.destroy();
    },
    destroy: (error, done) => {
      deps.ended();
      done(error);
    },
  });
  return {
    stream,
    number,
    forget: (messageId) => void held.delete(messageId),
    send,
    release: (messageId, key) => {
      held.set(messageId, key);
      send(messageId);
    },
    unacknowledged: () => held.size,
  };
};
