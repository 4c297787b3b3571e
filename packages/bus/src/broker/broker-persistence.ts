import type { After, Log } from '@infrakit/spi';
import { type LevelPersistence, levelPersistence, type StoredPacket } from './broker-level.ts';
import type { BrokerLimits, Refusals } from './broker-limits.ts';
import { type Retained, type RetainedMessages, retainedMessages } from './broker-retained.ts';
import { brokerSessions, type Sessions } from './broker-sessions.ts';
import { openBrokerStore } from './broker-store.ts';
import { isReceivedKey, type ReceivedIds, receivedIds, type SessionClient } from './received-ids.ts';

export interface BrokerPersistenceOptions {
  /** A folder of its own; in memory only when left out. */
  readonly dir: string | undefined;
  readonly limits: BrokerLimits;
}

export interface BrokerPersistenceDeps {
  readonly log: Log;
  readonly after: After;
  readonly refusals: Refusals;
}

/** What the embedded broker remembers, and what aedes is given to remember it with. */
export interface BrokerPersistence {
  /** A name for this run of the broker, in the order of the runs: what waits is kept by it. */
  readonly run: string;
  readonly aedes: LevelPersistence;
  readonly retained: RetainedMessages;
  readonly sessions: Sessions;
  readonly received: ReceivedIds;
  /** Clears the retained messages whose topic is no longer true. */
  readonly forgetRetained: (isStale: (topic: string) => boolean) => void;
  readonly sessionBytes: () => number;
  /** Messages dropped from full sessions. */
  readonly dropped: () => number;
  readonly close: () => Promise<void>;
}

const retainedKey = 'retained:';
/** How many times this broker was started. */
const runsKey = 'runs';
/** One for all: aedes asks of each PUBREL, and reads only that it is an error. */
const notReceived = new Error('no message of this packet id is under way');

const qosOf = (qos: number | undefined): 0 | 1 | 2 => (qos === 1 || qos === 2 ? qos : 0);

// One byte of QoS, then the payload.
const encodeRetained = ({ qos, payload }: Retained): Buffer => Buffer.concat([Buffer.of(qos), payload]);

const decodeRetained = (topic: string, stored: Buffer): Retained => ({
  topic,
  qos: qosOf(stored[0]),
  payload: stored.subarray(1),
});

/**
 * Retained messages and sessions that survive the process, also a `kill -9`, but for the last few milliseconds; a
 * database that is broken is moved aside with a warning. Errors: `BROKER_INVALID`.
 */
export const openBrokerPersistence = async (
  { dir, limits }: BrokerPersistenceOptions,
  { log, after, refusals }: BrokerPersistenceDeps,
): Promise<BrokerPersistence> => {
  const store = await openBrokerStore(dir, {
    log,
    after,
    onWriteError: (err) => refusals.count('storage', { err, dir }),
  });
  let dropped = 0;
  let isLoading = true;
  const retained = retainedMessages({
    maxMessages: limits.retainedMessages,
    maxBytes: limits.retainedBytes,
    save: (message) => {
      // Topics of the broker itself are about this run.
      if (isLoading || message.topic.startsWith('$')) return;
      store.write(`${retainedKey}${message.topic}`, message.payload.length === 0 ? undefined : encodeRetained(message));
    },
  });
  const stored = [...store.loaded].filter(([key]) => key !== runsKey && !isReceivedKey(key));
  const runs = Number(store.loaded.get(runsKey)?.toString() ?? 0) + 1;
  store.write(runsKey, Buffer.from(`${runs}`));
  for (const [key, value] of stored) {
    if (key.startsWith(retainedKey)) retained.set(decodeRetained(key.slice(retainedKey.length), value));
  }
  isLoading = false;
  const sessions = brokerSessions({
    loaded: stored.filter(([key]) => !key.startsWith(retainedKey)),
    maxQueuedMessages: limits.queuedMessages,
    maxBytes: limits.sessionBytes,
    save: store.write,
    saveNew: store.writeNew,
    forget: store.forget,
    onDropped: (clientId) => {
      dropped += 1;
      refusals.count('session-full', { clientId });
    },
  });
  const received = receivedIds(store);
  const base = levelPersistence(sessions.db);
  const setup = base.setup.bind(base);
  const acknowledge = base.outgoingClearMessageId.bind(base);
  const cleanSubscriptions = base.cleanSubscriptions.bind(base);
  const aedes = Object.assign(base, {
    setup: async (broker: unknown): Promise<void> => {
      try {
        await setup(broker);
      } catch (error) {
        log.warn({ err: error, dir }, 'the sessions of the last run cannot be read: forgotten');
        sessions.clear();
        await setup(broker);
      }
    },
    storeRetained: async ({ topic, qos, payload }: StoredPacket) =>
      retained.set({ topic, qos: qosOf(qos), payload: Buffer.from(payload) }),
    // Nothing is kept of what a clean session was sent, so there is nothing to look for.
    outgoingClearMessageId: async (client: { readonly clean: boolean }, packet: object) =>
      client.clean ? undefined : acknowledge(client, packet),
    // A client that begins anew has none of what waited for it before [MQTT-3.1.2-6].
    cleanSubscriptions: async (client: { readonly id: string }) => {
      sessions.clearMessages(client.id);
      await cleanSubscriptions(client);
    },
    incomingGetPacket: async (client: SessionClient, { messageId }: { readonly messageId: number }) =>
      received.has(client, messageId) ? {} : Promise.reject(notReceived),
    incomingDelPacket: (client: SessionClient, { messageId }: { readonly messageId: number }) =>
      new Promise<void>((resolve) => received.remove(client, messageId, resolve)),
    cleanIncoming: async (client: SessionClient) => received.clear(client),
    createRetainedStream: (filter: string) => retained.matching([filter]),
    createRetainedStreamCombi: retained.matching,
  });
  return {
    run: `${runs}`.padStart(9, '0'),
    aedes,
    retained,
    sessions,
    received,
    forgetRetained: (isStale) => {
      for (const topic of retained.topics().filter(isStale)) retained.set({ topic, qos: 0, payload: Buffer.alloc(0) });
    },
    sessionBytes: sessions.bytes,
    dropped: () => dropped,
    close: store.close,
  };
};
