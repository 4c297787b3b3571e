import type { BrokerStore } from './broker-store.ts';

/** A client as far as its session is concerned. */
export interface SessionClient {
  readonly id: string;
  readonly clean: boolean;
}

/**
 * Packet ids of QoS 2 messages that a client has published and not released: they are not published again [MQTT-4.3.3-2]. Those of a
 * lasting session are kept.
 */
export interface ReceivedIds {
  readonly has: (client: SessionClient, messageId: number) => boolean;
  readonly add: (client: SessionClient, messageId: number) => void;
  /** Keeps one that was added, where the session lasts. */
  readonly keep: (client: SessionClient, messageId: number, written: () => void) => void;
  /** `removed`: also on disk. Else it would be taken, after a restart, for a message that its client sends under this id next. */
  readonly remove: (client: SessionClient, messageId: number, removed: () => void) => void;
  /** Forgets all of a client, and of the session that it had. */
  readonly clear: (client: SessionClient) => void;
}

const family = 'incoming:';
const keyOf = (clientId: string, messageId: number): string =>
  `${family}${encodeURIComponent(clientId)}:${`${messageId}`.padStart(16, '0')}`;

/** Whether a key of the store is one of ours. */
export const isReceivedKey = (key: string): boolean => key.startsWith(family);

/** Any value will do: the key says it. */
const nothing = Buffer.of(1);

/** The ids of one broker, with those that the last run has left. */
export const receivedIds = ({ loaded, write, forget }: Omit<BrokerStore, 'writeNew' | 'close'>): ReceivedIds => {
  const ofConnections = new WeakMap<SessionClient, Set<number>>();
  const ofSessions = new Map<string, Set<number>>();
  const setOf = (client: SessionClient): Set<number> | undefined =>
    client.clean ? ofConnections.get(client) : ofSessions.get(client.id);
  const add = (client: SessionClient, messageId: number): void => {
    const ids = setOf(client) ?? new Set();
    if (client.clean) ofConnections.set(client, ids);
    else ofSessions.set(client.id, ids);
    ids.add(messageId);
  };
  for (const key of loaded.keys()) {
    if (!isReceivedKey(key)) continue;
    const [, client = '', messageId = ''] = key.split(':');
    add({ id: decodeURIComponent(client), clean: false }, Number(messageId));
  }
  return {
    has: (client, messageId) => setOf(client)?.has(messageId) === true,
    add,
    keep: (client, messageId, written) => {
      if (client.clean) written();
      else write(keyOf(client.id, messageId), nothing, written);
    },
    remove: (client, messageId, removed) => {
      const ids = setOf(client);
      if (ids?.delete(messageId) !== true || client.clean) return removed();
      if (ids.size === 0) ofSessions.delete(client.id);
      write(keyOf(client.id, messageId), undefined, removed);
    },
    clear: (client) => {
      ofConnections.delete(client);
      for (const messageId of ofSessions.get(client.id) ?? []) forget(keyOf(client.id, messageId));
      ofSessions.delete(client.id);
    },
  };
};
