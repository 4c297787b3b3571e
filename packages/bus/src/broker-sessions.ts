import type { LevelChain, LevelLike, LevelOperation, LevelRange } from './broker-level.ts';

export interface SessionsOptions {
  readonly loaded: Iterable<readonly [string, Buffer]>;
  readonly maxQueuedMessages: number;
  readonly maxBytes: number;
  readonly save: (key: string, value: Buffer | undefined) => void;
  /** Is told of each message that did not fit. */
  readonly onDropped: (clientId: string) => void;
}

/** What aedes keeps of lasting sessions: subscriptions, messages that wait, halves of handshakes, wills. */
export interface Sessions {
  /** As the database that the persistence of aedes expects. */
  readonly db: LevelLike;
  readonly bytes: () => number;
  readonly clear: () => void;
}

const queued = 'outgoing:';
const halfReceived = 'incoming:';

/** `<family>:<client>:…`; the persistence escapes colons within. */
const clientOf = (key: string): string => decodeURIComponent(key.split(':')[1] ?? '');

/**
 * The sessions in memory, bounded, behind the interface of a database; changes go to `save`. A range is searched among all keys: there are
 * only a few sessions (repeaters' sources; everybody else's are clean), so none is kept in order.
 */
export const brokerSessions = (options: SessionsOptions): Sessions => {
  const { maxQueuedMessages, maxBytes, save, onDropped } = options;
  const entries = new Map<string, Buffer>();
  const queueLengths = new Map<string, number>();
  let bytes = 0;

  const countQueued = (key: string, step: 1 | -1): void => {
    if (!key.startsWith(queued)) return;
    const client = clientOf(key);
    const length = (queueLengths.get(client) ?? 0) + step;
    if (length === 0) queueLengths.delete(client);
    else queueLengths.set(client, length);
  };
  const remove = (key: string): void => {
    const before = entries.get(key);
    if (before === undefined) return;
    entries.delete(key);
    bytes -= key.length + before.length;
    countQueued(key, -1);
    save(key, undefined);
  };
  const fits = (key: string, value: Buffer): boolean => {
    const isQueued = key.startsWith(queued);
    if ((!isQueued && !key.startsWith(halfReceived)) || entries.has(key)) return true;
    if (bytes + key.length + value.length > maxBytes) return false;
    return !isQueued || (queueLengths.get(clientOf(key)) ?? 0) < maxQueuedMessages;
  };
  const insert = (key: string, value: Buffer): void => {
    const before = entries.get(key);
    if (before === undefined) countQueued(key, 1);
    bytes += value.length - (before === undefined ? -key.length : before.length);
    entries.set(key, value);
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
      get: async (key) => entries.get(key),
      put: async (key, value) => put(key, value),
      del: async (key) => remove(key),
      clear: async (range) => keysIn(range).forEach(remove),
      batch,
      values: async function* (range) {
        for (const key of keysIn(range)) {
          const value = entries.get(key);
          if (value !== undefined) yield value;
        }
      },
      close: async () => undefined,
    },
    bytes: () => bytes,
    clear: () => [...entries.keys()].forEach(remove),
  };
};
