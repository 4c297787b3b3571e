import type { EventEmitter } from 'node:events';
import type { Aedes, AedesOptions, Client } from 'aedes';
import type { Packet } from 'mqtt-packet';
import type { PublishSafety } from './publish-safety.ts';
import type { ReceivedIds } from './received-ids.ts';

export interface BrokerAcksDeps {
  readonly safety: PublishSafety;
  readonly received: ReceivedIds;
}

/** Acknowledges what clients publish. */
export interface BrokerAcks {
  /** The answer to each publish, which `mayPublish` decides, so that aedes leaves acknowledging it to us. */
  readonly authorizePublish: (
    mayPublish: NonNullable<AedesOptions['authorizePublish']>,
  ) => NonNullable<AedesOptions['authorizePublish']>;
  readonly watch: (broker: Aedes) => void;
}

interface Ack {
  readonly firstByte: number;
  readonly messageId: number;
  isDue: boolean;
}

const [puback, pubrec, pubcomp] = [0x40, 0x50, 0x70];

/** Acknowledgements of one client: in the order of the messages [MQTT-4.6.0-2], those of one turn in one write. */
const ackQueue = (client: Client) => {
  const acks: Ack[] = [];
  /** Packet ids of messages that have come to their end; they wait for no other. */
  let completed: number[] = [];
  let isFlushing = false;
  const flush = (): void => {
    isFlushing = false;
    const next = acks.findIndex(({ isDue }) => !isDue);
    const due = acks.splice(0, next < 0 ? acks.length : next);
    const bytes = Buffer.allocUnsafe(4 * (due.length + completed.length));
    let at = 0;
    const add = (firstByte: number, messageId: number): void => {
      at = bytes.writeUInt16BE(messageId, bytes.writeUInt16BE((firstByte << 8) | 2, at));
    };
    for (const { firstByte, messageId } of due) add(firstByte, messageId);
    for (const messageId of completed) add(pubcomp, messageId);
    completed = [];
    if (at > 0 && !client.closed) client.conn.write(bytes);
  };
  const flushSoon = (): void => {
    if (isFlushing) return;
    isFlushing = true;
    setImmediate(flush);
  };
  return {
    /** Takes a place in the order; the ack goes out when the result is called. */
    add: (firstByte: number, messageId: number): (() => void) => {
      const ack = { firstByte, messageId, isDue: false };
      acks.push(ack);
      return () => {
        ack.isDue = true;
        flushSoon();
      };
    },
    complete: (messageId: number): void => {
      completed.push(messageId);
      flushSoon();
    },
  };
};

/** Puts `take` before the listener that aedes has for the packets of a client; what it takes aedes does not see. */
const takePackets = (client: Client, take: (packet: Packet) => boolean): void => {
  const parser: EventEmitter = Reflect.get(client, '_parser');
  const [handle] = parser.listeners('packet');
  if (handle === undefined) return;
  parser.removeAllListeners('packet');
  parser.on('packet', (packet: Packet) => {
    if (!take(packet)) Reflect.apply(handle, parser, [packet]);
  });
};

/**
 * Acknowledges publishes of QoS 1 and 2 when they are safe, where aedes would do so on receipt. It is told that they are of QoS 0 and
 * published already. PUBRELs are taken before it sees them.
 */
export const brokerAcks = ({ safety, received }: BrokerAcksDeps): BrokerAcks => {
  const queues = new WeakMap<Client, ReturnType<typeof ackQueue>>();
  const published = new WeakSet<object>();
  let publish: Aedes['publish'] | undefined;
  let nextNumber = (): number => 0;
  const queueOf = (client: Client) => {
    const queue = queues.get(client) ?? ackQueue(client);
    queues.set(client, queue);
    return queue;
  };

  /** Aedes would answer each PUBREL with three writes, some turns later. */
  const takeReleases = (client: Client): void =>
    takePackets(client, (packet) => {
      if (packet.cmd !== 'pubrel') return false;
      // Aedes lets packets wait for CONNACK, and for a client that does not read its answers.
      if (Reflect.get(client, 'connackSent') !== true || client.conn.writableNeedDrain) return false;
      const { messageId = 0 } = packet;
      // Every packet shows that its sender is alive [MQTT-3.1.2-24].
      Reflect.get(client, '_keepaliveTimer')?.refresh();
      const queue = queueOf(client);
      received.remove(client, messageId, () => queue.complete(messageId));
      return true;
    });

  return {
    authorizePublish: (mayPublish) => (client, packet, done) =>
      mayPublish(client, packet, (error) => {
        const messageId: unknown = Reflect.get(packet, 'messageId');
        if (error || client === null || packet.qos === 0 || typeof messageId !== 'number' || publish === undefined) {
          return done(error);
        }
        const goOn = (failure?: Error | null): void => {
          published.add(packet);
          packet.qos = 0;
          done(failure ?? null);
        };
        const acknowledge = queueOf(client).add(packet.qos === 1 ? puback : pubrec, messageId);
        if (packet.qos === 2 && received.has(client, messageId)) {
          acknowledge();
          return goOn();
        }
        const number = nextNumber();
        if (packet.qos === 2) {
          received.add(client, messageId);
          if (!client.clean) safety.whenTaken(number, () => received.keep(client, messageId, safety.hold(number)));
        }
        Reflect.apply(publish, undefined, [
          packet,
          client,
          (failure?: Error | null) => {
            if (failure) received.remove(client, messageId, () => undefined);
            safety.whenSafe(number, failure ? () => undefined : acknowledge);
            goOn(failure);
          },
        ]);
      }),
    watch: (broker) => {
      broker.on('client', takeReleases);
      const original = broker.publish.bind(broker);
      publish = original;
      nextNumber = () => Number(Reflect.get(broker, 'counter')) + 1;
      broker.publish = (packet, ...rest: unknown[]) => {
        const done = rest.at(-1);
        if (published.delete(packet) && typeof done === 'function') done(null);
        else Reflect.apply(original, undefined, [packet, ...rest]);
      };
    },
  };
};
