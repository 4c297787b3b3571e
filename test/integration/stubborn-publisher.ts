import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connectPacket, packetCutter, publishPacket } from '../bench/load/frames.ts';

/** A client that publishes numbers at a UNIX socket and sends what is not acknowledged again and again, as MQTT has it. */
export interface StubbornPublisher {
  /** Numbers that were acknowledged, in the end: PUBACK or PUBCOMP. */
  readonly acknowledged: () => ReadonlySet<number>;
  /** Publishes so many more, from the next number on; resolves when all are acknowledged. */
  readonly publish: (count: number) => Promise<void>;
  readonly close: () => void;
}

interface UnderWay {
  readonly number: number;
  isReceived: boolean;
}

const [puback, pubrec, pubcomp] = [4, 5, 7];
const mostUnderWay = 50;

/** Opens one with a session that lasts; it connects again when the broker goes away. */
export const stubbornPublisher = (path: string, topic: string, qos: 1 | 2): StubbornPublisher => {
  const acknowledged = new Set<number>();
  const underWay = new Map<number, UnderWay>();
  let [next, last, id] = [0, 0, 0];
  let socket: Socket | undefined;
  let [isClosed, isUp] = [false, false];

  const send = (messageId: number, { number, isReceived }: UnderWay, isAgain: boolean): void => {
    if (isReceived) {
      socket?.write(Buffer.from([0x62, 2, messageId >> 8, messageId & 0xff]));
      return;
    }
    const packet = publishPacket(topic, Buffer.from(`${number}`), qos);
    packet.writeUInt16BE(messageId, packet.length - `${number}`.length - 2);
    if (isAgain) packet[0] = (packet[0] ?? 0) | 8;
    socket?.write(packet);
  };
  const fill = (): void => {
    while (isUp && next < last && underWay.size < mostUnderWay) {
      do id = (id % 65_535) + 1;
      while (underWay.has(id));
      const message = { number: next, isReceived: false };
      underWay.set(id, message);
      next += 1;
      send(id, message, false);
    }
  };
  const open = (): void => {
    const opened = connect(path);
    socket = opened;
    const cut = packetCutter((type, packet, body) => {
      if (type === 2) {
        isUp = true;
        for (const [messageId, message] of underWay) send(messageId, message, true);
      } else {
        const messageId = packet.readUInt16BE(body);
        const message = underWay.get(messageId);
        if (message !== undefined && type === pubrec) {
          message.isReceived = true;
          send(messageId, message, false);
        } else if (message !== undefined && (type === puback || type === pubcomp)) {
          underWay.delete(messageId);
          acknowledged.add(message.number);
        }
      }
      fill();
    });
    const hello = connectPacket('stubborn');
    // Not a clean session.
    hello[9] = 0;
    opened.on('connect', () => opened.write(hello));
    opened.on('data', cut);
    opened.on('error', () => undefined);
    opened.on('close', () => {
      isUp = false;
      if (!isClosed) void delay(20).then(open);
    });
  };
  open();
  return {
    acknowledged: () => acknowledged,
    publish: async (count) => {
      last += count;
      fill();
      while (acknowledged.size < last) await delay(5);
    },
    close: () => {
      isClosed = true;
      socket?.destroy();
    },
  };
};
