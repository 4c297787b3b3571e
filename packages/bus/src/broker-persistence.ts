import type { Log } from '@infrakit/spi';
import { type LevelPersistence, levelPersistence, type StoredPacket } from './broker-level.ts';
import type { BrokerLimits, Refusals } from './broker-limits.ts';
import { type Retained, type RetainedMessages, retainedMessages } from './broker-retained.ts';
import { brokerSessions } from './broker-sessions.ts';
import { openBrokerStore } from './broker-store.ts';

export interface BrokerPersistenceOptions {
  /** A folder of its own; in memory only when left out. */
  readonly dir: string | undefined;
  readonly limits: BrokerLimits;
}

export interface BrokerPersistenceDeps {
  readonly log: Log;
  readonly refusals: Refusals;
}

/** What the embedded broker remembers, and what aedes is given to remember it with. */
export interface BrokerPersistence {
  readonly aedes: LevelPersistence;
  readonly retained: RetainedMessages;
  /** Clears the retained messages whose topic is no longer true. */
  readonly forgetRetained: (isStale: (topic: string) => boolean) => void;
  readonly sessionBytes: () => number;
  /** Messages dropped from full sessions. */
  readonly dropped: () => number;
  readonly close: () => Promise<void>;
}

const retainedKey = 'retained:';

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
  { log, refusals }: BrokerPersistenceDeps,
): Promise<BrokerPersistence> => {
  const store = await openBrokerStore(dir, {
    log,
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
  const stored = [...store.loaded];
  for (const [key, value] of stored) {
    if (key.startsWith(retainedKey)) retained.set(decodeRetained(key.slice(retainedKey.length), value));
  }
  isLoading = false;
  const sessions = brokerSessions({
    loaded: stored.filter(([key]) => !key.startsWith(retainedKey)),
    maxQueuedMessages: limits.queuedMessages,
    maxBytes: limits.sessionBytes,
    save: store.write,
    onDropped: (clientId) => {
      dropped += 1;
      refusals.count('session-full', { clientId });
    },
  });
  const base = levelPersistence(sessions.db);
  const setup = base.setup.bind(base);
  const acknowledge = base.outgoingClearMessageId.bind(base);
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
    createRetainedStream: (filter: string) => retained.matching([filter]),
    createRetainedStreamCombi: retained.matching,
  });
  return {
    aedes,
    retained,
    forgetRetained: (isStale) => {
      for (const topic of retained.topics().filter(isStale)) retained.set({ topic, qos: 0, payload: Buffer.alloc(0) });
    },
    sessionBytes: sessions.bytes,
    dropped: () => dropped,
    close: store.close,
  };
};
