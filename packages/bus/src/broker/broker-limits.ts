import type { Log } from '@infrakit/spi';

/** What clients may take of the embedded broker. "Guests" are clients that may only look: anonymous and read-only ones. */
export interface BrokerLimits {
  /** Connections at a time, for TCP and the UNIX socket apart: strangers cannot take the places of our own processes. */
  readonly connections: number;
  /** From accepted to CONNECT, in ms. */
  readonly connectTimeoutMs: number;
  /** The largest packet of a client that may publish, in bytes. */
  readonly packetBytes: number;
  /** The largest packet of a guest, and of anybody on TCP before the broker knows who it is, in bytes. */
  readonly guestPacketBytes: number;
  /** The longest topic or filter, in bytes. */
  readonly topicBytes: number;
  /** Open filters of one client. */
  readonly subscriptions: number;
  /** Publishes a second of one client on TCP, after a burst of as many; the UNIX socket has no such limit. */
  readonly publishesPerSecond: number;
  /** Packets a second of one guest that ask for work (acknowledgements do not), after a burst of as many. */
  readonly guestPacketsPerSecond: number;
  /** Bytes that wait for a slow client that may publish; beyond them who publishes to it waits. */
  readonly backlogBytes: number;
  /** Bytes that wait for a slow guest; beyond half of them live messages to it are dropped, so that it stops nobody. */
  readonly guestBacklogBytes: number;
  /** How long a client may take nothing while others wait for it, in ms; then it is thrown out. */
  readonly stallMs: number;
  /** Messages that wait for one client with a lasting session; further ones are dropped. */
  readonly queuedMessages: number;
  /** Bytes of all lasting sessions together. */
  readonly sessionBytes: number;
  readonly retainedMessages: number;
  readonly retainedBytes: number;
  /** Passwords checked at a time; each costs some 16 MiB and 50 ms of a core. */
  readonly passwordChecks: number;
}

const mebibyte = 1024 * 1024;

export const defaultBrokerLimits: BrokerLimits = {
  connections: 256,
  connectTimeoutMs: 5_000,
  packetBytes: 8 * mebibyte,
  guestPacketBytes: 64 * 1024,
  topicBytes: 4_096,
  subscriptions: 1_000,
  publishesPerSecond: 10_000,
  guestPacketsPerSecond: 500,
  backlogBytes: 16 * mebibyte,
  guestBacklogBytes: mebibyte,
  stallMs: 5_000,
  queuedMessages: 10_000,
  sessionBytes: 256 * mebibyte,
  retainedMessages: 200_000,
  retainedBytes: 256 * mebibyte,
  passwordChecks: 8,
};

/** Why something was refused or thrown away. */
export type Refusal =
  | 'connections'
  | 'connect-timeout'
  | 'authentication'
  | 'client-id'
  | 'tls'
  | 'malformed'
  | 'version'
  | 'packet-size'
  | 'topic'
  | 'rate'
  | 'subscriptions'
  | 'publish-right'
  | 'slow'
  | 'session-full'
  | 'retained-full'
  | 'storage';

/** Counts what was refused and logs it at most once a minute for each reason; a newer MQTT is tried by any good client. */
export interface Refusals {
  /** Counts one. Facts are those of the one that is logged; `refused` there is how many since the last line. */
  readonly count: (reason: Refusal, facts?: Readonly<Record<string, unknown>>) => void;
  /** How many of each so far. */
  readonly counts: () => Readonly<Partial<Record<Refusal, number>>>;
}

const logEveryMs = 60_000;

/** `now` in ms, monotonic. */
export const refusals = ({ log, now }: { readonly log: Log; readonly now: () => number }): Refusals => {
  const seen = new Map<Refusal, { total: number; logged: number; loggedAtMs: number }>();
  return {
    count: (reason, facts = {}) => {
      const entry = seen.get(reason) ?? { total: 0, logged: 0, loggedAtMs: Number.NEGATIVE_INFINITY };
      seen.set(reason, entry);
      entry.total += 1;
      if (reason === 'version' || now() - entry.loggedAtMs < logEveryMs) return;
      log.warn({ ...facts, reason, refused: entry.total - entry.logged, total: entry.total }, 'the broker refused');
      entry.logged = entry.total;
      entry.loggedAtMs = now();
    },
    counts: () => Object.fromEntries([...seen].map(([reason, { total }]) => [reason, total])),
  };
};

/** Whether one more is allowed at a rate, after a burst of one second's worth. `now` in ms. */
export const rateLimit = (perSecond: number, now: () => number): (() => boolean) => {
  let tokens = perSecond;
  let atMs = now();
  return () => {
    const nowMs = now();
    tokens = Math.min(perSecond, tokens + ((nowMs - atMs) * perSecond) / 1_000);
    atMs = nowMs;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
};
