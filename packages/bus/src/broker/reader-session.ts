import type { After } from '@infrakit/spi';
import type { Aedes } from 'aedes';
import type { ClientCounts } from './broker-client-state.ts';
import { isLegalFilter } from './broker-legal.ts';
import type { NumberedPacket, StoredSubscription } from './broker-level.ts';
import type { BrokerLimits } from './broker-limits.ts';
import type { BrokerPersistence } from './broker-persistence.ts';
import { brokerReader, type Reader, type ReaderFilter } from './broker-reader.ts';
import { brokerRights } from './broker-rights.ts';
import type { PublishSafety } from './publish-safety.ts';
import { readerCrowd } from './reader-crowd.ts';
import type { ReaderPublish } from './reader-frames.ts';
import { decodeWaiting, encodeReleased, encodeWaiting, waitingKey } from './waiting-message.ts';

/** Who a reader is. */
export interface ReaderIdentity {
  readonly clientId: string;
  /** False: with the session that this client id has over the UNIX socket, so that either goes on where the other ended. */
  readonly clean: boolean;
}

export interface ReaderSessionDeps {
  readonly broker: Aedes;
  readonly persistence: BrokerPersistence;
  readonly limits: BrokerLimits;
  readonly counts: ClientCounts;
  readonly safety: PublishSafety;
  readonly after: After;
  readonly ended: () => void;
}

/** A connected reader with its subscriptions, and its messages where they are kept. */
export interface ReaderSession {
  readonly stream: Reader['stream'];
  /** Gets a message of QoS 1 or 2 that a subscription of its session matches. */
  readonly take: (packet: NumberedPacket, subscription: StoredSubscription) => void;
  /** Subscriptions of its last connection. */
  readonly listen: (subscription: StoredSubscription) => void;
  /** Sends what its last connection left, before anything else. */
  readonly resume: () => void;
}

/** How aedes calls who listens. */
type Listener = Parameters<Aedes['subscribe']>[1];

const refused = 128;
const qosOf = (qos: number): 0 | 1 | 2 => (qos === 1 || qos === 2 ? qos : 0);

/** Of a reader with this part of what a session may hold not acknowledged, publishers wait. */
const fullShare = 0.25;

const { mayReceive } = brokerRights('')({ kind: 'local' });

/** Whether a filter means a topic that it matches: one that begins with a wildcard means no `$` topic [MQTT-4.7.2-1]. */
const isMeant = (filter: string, topic: string): boolean =>
  !topic.startsWith('$') || (filter.startsWith('$') && mayReceive(topic));

/** A reader that has just connected, without subscriptions. */
export const readerSession = ({ clientId, clean }: ReaderIdentity, deps: ReaderSessionDeps): ReaderSession => {
  const { broker, persistence, limits, counts, safety, after } = deps;
  const { aedes, sessions, retained } = persistence;
  const listeners = new Map<string, Listener>();
  const fullAt = Math.max(1, Math.floor(limits.queuedMessages * fullShare));
  const crowd = readerCrowd(() => reader.unacknowledged() < fullAt, limits.stallMs, after);
  let lastTaken = 0;

  const messageOf = (packet: Pick<NumberedPacket, 'topic' | 'payload'>, most: number, isRetained = false) => {
    const { topic, payload } = packet;
    counts.publishesSent += 1;
    const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload;
    return { topic, payload: bytes, qos: qosOf(most), retain: isRetained, dup: false, messageId: 0 };
  };

  const take: ReaderSession['take'] = (packet, { topic: filter, qos: most }) => {
    const qos = Math.min(packet.qos, most);
    const { brokerId, brokerCounter } = packet;
    // Once, however many filters match.
    if (qos === 0 || brokerCounter === lastTaken || !isMeant(filter, packet.topic)) return;
    lastTaken = brokerCounter;
    const key = waitingKey(clientId, brokerId, brokerCounter);
    const message = messageOf(packet, qos);
    const isNumbered = reader.number(message, key);
    const isSafe = safety.hold(brokerCounter);
    const isTaken =
      isNumbered &&
      sessions.queue({
        key,
        length: message.topic.length + message.payload.length,
        make: () => encodeWaiting(key, message),
        // QoS 2 is sent when it is on disk with its packet id: after `kill -9` the other end knows it by that [MQTT-4.3.3-1].
        isUrgent: qos === 2,
        written: () => {
          isSafe();
          if (qos === 2) reader.send(message);
        },
      });
    if (!isNumbered) counts.publishesDropped += 1;
    if (!isTaken) {
      isSafe();
      reader.forget(message.messageId);
    } else if (qos === 1) reader.send(message);
  };
  /** Sends what is not kept. */
  const pass = (message: ReaderPublish): void => {
    if (message.qos === 0 || reader.number(message, undefined)) reader.send(message);
    else counts.publishesDropped += 1;
  };

  const unlisten = (filter: string): void => {
    const listener = listeners.get(filter);
    if (listener === undefined) return;
    listeners.delete(filter);
    counts.subscriptions -= 1;
    broker.unsubscribe(filter, listener, () => undefined);
  };
  const listen = ({ topic: filter, qos: most }: StoredSubscription): void => {
    unlisten(filter);
    const listener: Listener = (packet, done) => {
      if (listeners.get(filter) !== listener) return done();
      const isTaken = !clean && packet.qos > 0 && most > 0;
      if (!isTaken && isMeant(filter, packet.topic)) {
        const { topic, payload } = packet;
        pass(messageOf({ topic, payload: Buffer.from(payload) }, Math.min(packet.qos, most)));
      }
      // Here, where everybody else has the message already: whoever published it waits, and nobody else.
      crowd.enter(done);
    };
    listeners.set(filter, listener);
    counts.subscriptions += 1;
    broker.subscribe(filter, listener, () => undefined);
  };

  /** What is retained is not kept for it: a new connection that subscribes gets it again. */
  const sendRetained = async (filters: readonly ReaderFilter[]): Promise<void> => {
    for (const { topic: filter, qos } of filters) {
      for await (const packet of retained.matching([filter])) {
        if (reader.stream.destroyed) return;
        if (!isMeant(filter, packet.topic)) continue;
        pass(messageOf(packet, Math.min(packet.qos, qos), true));
        await new Promise<void>(crowd.enter);
      }
    }
  };

  const reader = brokerReader({
    subscribe: (wanted) => {
      const granted: ReaderFilter[] = [];
      const codes = wanted.map(({ topic, qos }) => {
        const isFull = !listeners.has(topic) && listeners.size >= limits.subscriptions;
        if (isFull || !isLegalFilter(topic, limits.topicBytes)) return refused;
        granted.push({ topic, qos });
        listen({ topic, qos });
        return qos;
      });
      if (!clean && granted.length > 0) void aedes.addSubscriptions({ id: clientId }, granted);
      return { codes, granted: () => void sendRetained(granted) };
    },
    unsubscribe: (filters) => {
      filters.forEach(unlisten);
      if (!clean) void aedes.removeSubscriptions({ id: clientId }, filters);
    },
    acknowledged: (key) => {
      if (key !== undefined) sessions.remove(key);
      crowd.progress();
    },
    received: (key, messageId, go) => sessions.replace(key, encodeReleased(key, messageId), go),
    sent: (bytes) => {
      counts.messagesSent += 1;
      counts.bytesSent += bytes;
    },
    ended: () => {
      for (const filter of [...listeners.keys()]) unlisten(filter);
      crowd.end();
      deps.ended();
    },
  });

  return {
    stream: reader.stream,
    take,
    listen,
    resume: () => {
      for (const [key, value] of sessions.messagesOf(clientId)) {
        const waiting = decodeWaiting(value);
        if (waiting === null) {
          counts.publishesDropped += 1;
          sessions.remove(key);
        } else if (waiting.stage === 'pubrel') reader.release(waiting.messageId, key);
        else {
          // One with a packet id has been sent, perhaps [MQTT-3.3.1-1].
          const message = { ...messageOf(waiting, waiting.qos), dup: waiting.messageId > 0 };
          message.messageId = waiting.messageId;
          if (reader.number(message, key)) reader.send(message);
        }
      }
    },
  };
};
