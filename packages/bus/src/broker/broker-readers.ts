import type { Duplex } from 'node:stream';
import type { Aedes } from 'aedes';
import type { NumberedPacket } from './broker-level.ts';
import { type ReaderIdentity, type ReaderSession, type ReaderSessionDeps, readerSession } from './reader-session.ts';
import { encodeWaiting, waitingKey } from './waiting-message.ts';

/** A connection of a subscriber inside the broker's process. */
export interface OpenedReader {
  /** MQTT 3.1.1 as if CONNECT were accepted; it neither publishes nor has a will. Each write has whole packets. */
  readonly stream: Duplex;
  /** Whether there was a session of this client id. */
  readonly hadSession: boolean;
}

/** Subscribers inside this process, which are served without a socket and without aedes. */
export interface BrokerReaders {
  /** Opens one with all rights. Whoever is connected by this id is thrown out [MQTT-3.1.4-2]. */
  readonly open: (who: ReaderIdentity) => Promise<OpenedReader>;
  /** Throws out the reader of this id, if there is one: it comes another way. */
  readonly release: (clientId: string) => void;
  readonly close: () => void;
}

/** Ends the connection that a client has over a socket. */
const endElsewhere = (broker: Aedes, clientId: string): Promise<void> =>
  new Promise((resolve) => {
    const client = Reflect.get(Reflect.get(broker, 'clients'), clientId);
    if (client === undefined) resolve();
    else client.close(resolve);
  });

/** Readers of a broker, none yet. From now on the messages of their sessions go to them, not to aedes. */
export const brokerReaders = (deps: Omit<ReaderSessionDeps, 'ended'>): BrokerReaders => {
  const { broker, persistence } = deps;
  const { aedes } = persistence;
  const live = new Map<string, ReaderSession>();

  /** Keeps a message for a client that is away, or comes over a socket. */
  const keep = (clientId: string, packet: NumberedPacket): void => {
    const { topic, payload, qos, retain, brokerId, brokerCounter } = packet;
    const key = waitingKey(clientId, brokerId, brokerCounter);
    const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload;
    const isSafe = deps.safety.hold(brokerCounter);
    const isKept = persistence.sessions.queue({
      key,
      length: topic.length + payload.length,
      make: () => encodeWaiting(key, { topic, payload: bytes, qos, retain, messageId: 0 }),
      isUrgent: true,
      written: isSafe,
    });
    if (!isKept) isSafe();
  };
  aedes.outgoingEnqueueCombi = async (subscriptions, packet) => {
    deps.safety.taken(packet.brokerCounter);
    for (const subscription of subscriptions) {
      const { clientId } = subscription;
      const reader = live.get(clientId);
      if (reader === undefined) keep(clientId, packet);
      else reader.take(packet, subscription);
    }
  };

  const release = (clientId: string): void => {
    const reader = live.get(clientId);
    live.delete(clientId);
    reader?.stream.destroy();
  };

  return {
    open: async (who) => {
      const { clientId, clean } = who;
      release(clientId);
      await endElsewhere(broker, clientId);
      if (clean) await aedes.cleanSubscriptions({ id: clientId });
      const stored = clean ? [] : await aedes.subscriptionsByClient({ id: clientId });
      // Somebody else may have come while we looked.
      release(clientId);
      const reader = readerSession(who, {
        ...deps,
        ended: () => {
          if (live.get(clientId) === reader) live.delete(clientId);
        },
      });
      live.set(clientId, reader);
      for (const subscription of stored) reader.listen(subscription);
      if (!clean) reader.resume();
      return { stream: reader.stream, hadSession: stored.length > 0 };
    },
    release,
    close: () => {
      for (const clientId of [...live.keys()]) release(clientId);
    },
  };
};
