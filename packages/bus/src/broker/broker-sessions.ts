import type { LevelChain, LevelLike, LevelOperation, LevelRange } from './broker-level.ts';
import type { BrokerStore, NewValue } from './broker-store.ts';

export interface SessionsOptions {
  readonly loaded: Iterable<readonly [string, Buffer]>;
  readonly maxQueuedMessages: number;
  readonly maxBytes: number;
  readonly save: BrokerStore['write'];
  readonly saveNew: BrokerStore['writeNew'];
  readonly forget: BrokerStore['forget'];
  /** Is told of each message that did not fit. */
  readonly onDropped: (clientId: string) => void;
}

/** A message that is to wait for a client, in its memory until it is asked for or written. */
export interface Waiting extends NewValue {
  /** `outgoing:<client>:<run of the broker>:<number>`, with a number that was never used before. */
  readonly key: string;
  /** About what `make` makes. */
  readonly length: number;
}

/** What aedes keeps of lasting sessions: subscriptions, messages that wait, halves of handshakes, wills. */
export interface Sessions {
  /** As the database that the persistence of aedes expects. */
  readonly db: LevelLike;
  /** Takes a message in; false where there is no room for it, which is told. */
  readonly queue: (message: Waiting) => boolean;
  /** Puts something else in the place of a message that waits, if it does. */
  readonly replace: (key: string, value: Buffer, written: () => void) => void;
  readonly remove: (key: string) => void;
  /** What waits for a client, with its keys, in the order in which it came. */
  readonly messagesOf: (clientId: string) => readonly (readonly [key: string, value: Buffer])[];
  /** Forgets all messages of a client. */
  readonly clearMessages: (clientId: string) => void;
  readonly bytes: () => number;
  readonly clear: () => void;
}

const queued = 'outgoing:';
/** Which message a packet id stands for. */
const numbered = 'outgoing-id:';
const halfReceived = 'incoming:';

/** `<family>:<client>:…`; the persistence escapes colons within. */
const clientOf = (key: string): string => decodeURIComponent(key.split(':')[1] ?? '');

/** The keys of one client in a family begin so. */
const ownerOf = (key: string): string => key.slice(0, key.indexOf(':', key.indexOf(':') + 1));

const bufferOf = (entry: Buffer | Waiting): Buffer => ('make' in entry ? entry.make() : entry);

/**
 * The sessions in memory, bounded, behind the interface of a database; changes go to `save`. A range is searched among all keys: there are
 * only a few sessions (repeaters' sources; everybody else's are clean), so none is kept in order.
 */
export const brokerSessions = (options: SessionsOptions): Sessions => {
  const { maxQueuedMessages, maxBytes, save, saveNew, forget, onDropped } = options;
  const entries = new Map<string, Buffer | Waiting>();
  const queueLengths = new Map<string, number>();
  let bytes = 0;

  const countQueued = (key: string, step: 1 | -1): void => {
    if (!key.startsWith(queued)) return;
    const owner = ownerOf(key);
    const length = (queueLengths.get(owner) ?? 0) + step;
    if (length === 0) queueLengths.delete(owner);
    else queueLengths.set(owner, length);
  };
  const remove = (key: string): void => {
    const before = entries.get(key);
    if (before === undefined) return;
    entries.delete(key);
    bytes -= key.length + before.length;
    countQueued(key, -1);
    forget(key);
  };
  const fits = (key: string, value: { readonly length: number }): boolean => {
    const isQueued = key.startsWith(queued);
    if ((!isQueued && !key.startsWith(halfReceived)) || entries.has(key)) return true;
    if (bytes + key.length + value.length > maxBytes) return false;
    return !isQueued || (queueLengths.get(ownerOf(key)) ?? 0) < maxQueuedMessages;
  };
  const insert = (key: string, value: Buffer | Waiting): void => {
    const before = entries.get(key);
    if (before === undefined) countQueued(key, 1);
    bytes += value.length - (before === undefined ? -key.length : before.length);
    entries.set(key, value);
  };
  const queue = (message: Waiting): boolean => {
    const { key, make, isUrgent, written } = message;
    if (!fits(key, message)) {
      onDropped(clientOf(key));
      return false;
    }
    insert(key, message);
    // Written, it no longer needs what it is made of.
    const makeOnce = (): Buffer => {
      const value = make();
      if (entries.get(key) === message) insert(key, value);
      return value;
    };
    saveNew(key, { make: makeOnce, isUrgent, written });
    return true;
  };
  const put = (key: string, value: Uint8Array): void => {
    const buffer = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    if (fits(key, buffer)) {
      insert(key, buffer);
      save(key, buffer);
    } else onDropped(clientOf(key));
  };
  const keysIn = ({ gte, lt }: LevelRange): string[] =>
    [...entries.keys()].filter((key) => key >= gte && key < lt).sort();

  for (const [key, value] of options.loaded) insert(key, value);

  const chain = (): LevelChain => {
    const keys: string[] = [];
    return { del: (key) => void keys.push(key), write: async () => keys.forEach(remove) };
  };
  function batch(): LevelChain;
  function batch(operations: readonly LevelOperation[]): Promise<void>;
  function batch(operations?: readonly LevelOperation[]): LevelChain | Promise<void> {
    if (operations === undefined) return chain();
    for (const each of operations) each.type === 'put' ? put(each.key, each.value) : remove(each.key);
    return Promise.resolve();
  }
  return {
    db: {
      get: async (key) => {
        const entry = entries.get(key);
        return entry === undefined ? undefined : bufferOf(entry);
      },
      put: async (key, value) => put(key, value),
      del: async (key) => remove(key),
      clear: async (range) => keysIn(range).forEach(remove),
      batch,
      values: async function* (range) {
        for (const key of keysIn(range)) {
          const entry = entries.get(key);
          if (entry !== undefined) yield bufferOf(entry);
        }
      },
      close: async () => undefined,
    },
    queue,
    replace: (key, value, written) => {
      if (!entries.has(key)) return written();
      insert(key, value);
      save(key, value, written);
    },
    remove,
    messagesOf: (clientId) => {
      const client = encodeURIComponent(clientId);
      if (!queueLengths.has(queued + client)) return [];
      return keysIn({ gte: `${queued}${client}:`, lt: `${queued}${client};` }).flatMap((key) => {
        const entry = entries.get(key);
        return entry === undefined ? [] : [[key, bufferOf(entry)] as const];
      });
    },
    clearMessages: (clientId) => {
      const client = encodeURIComponent(clientId);
      if (!queueLengths.has(queued + client)) return;
      for (const family of [queued, numbered]) {
        // `;` comes next after `:`.
        keysIn({ gte: `${family}${client}:`, lt: `${family}${client};` }).forEach(remove);
      }
    },
    bytes: () => bytes,
    clear: () => [...entries.keys()].forEach(remove),
  };
};
