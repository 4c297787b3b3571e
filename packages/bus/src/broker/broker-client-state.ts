import type { Duplex } from 'node:stream';
import type { Client, ConnectPacket } from 'aedes';
import type { BrokerLimits, Refusal, Refusals } from './broker-limits.ts';
import { brokerRights, type Principal, type Rights } from './broker-rights.ts';

/** How a client came in: over the UNIX socket, or over TCP with or without TLS. */
export type Door = 'socket' | 'tcp';

/** One connection. */
export interface ClientState {
  readonly door: Door;
  readonly stream: Duplex;
  readonly filters: Set<string>;
  readonly mayWork: () => boolean;
  readonly mayPublishNow: () => boolean;
  /** Undefined until CONNECT is accepted. */
  principal: Principal | undefined;
  /** Why CONNECT will be refused whatever the password. */
  connectFault: 'client-id' | 'topic' | undefined;
  /** Until it is accepted. */
  connect: ConnectPacket | undefined;
  /** Bytes handed to aedes in this turn and not yet in the stream. */
  promisedBytes: number;
  /** Its end has a reason already: a keepalive that passed, or an error. */
  isEnding: boolean;
}

/** What is counted about clients. */
export interface ClientCounts {
  messagesReceived: number;
  messagesSent: number;
  bytesReceived: number;
  bytesSent: number;
  publishesReceived: number;
  publishesSent: number;
  publishesDropped: number;
  subscriptions: number;
}

/** What admission and traffic share. */
export interface ClientBook {
  readonly limits: BrokerLimits;
  readonly counts: ClientCounts;
  /** `undefined` for a client of another broker. */
  readonly find: (client: Client) => ClientState | undefined;
  readonly add: (client: Client, state: ClientState) => void;
  readonly rightsOf: (principal: Principal) => Rights;
  readonly count: Refusals['count'];
  /** Counts a refusal; the error that aedes ends the connection with. */
  readonly refuse: (reason: Refusal, message: string, facts?: Readonly<Record<string, unknown>>) => Error;
  /** Whether an error is one of `refuse`. */
  readonly isCounted: (error: Error) => boolean;
}

/** A book of the clients of one broker, empty. */
export const clientBook = (prefix: string, limits: BrokerLimits, refusals: Refusals): ClientBook => {
  const states = new WeakMap<Client, ClientState>();
  const counted = new WeakSet<Error>();
  const counts: ClientCounts = {
    messagesReceived: 0,
    messagesSent: 0,
    bytesReceived: 0,
    bytesSent: 0,
    publishesReceived: 0,
    publishesSent: 0,
    publishesDropped: 0,
    subscriptions: 0,
  };

  return {
    limits,
    counts,
    find: (client) => states.get(client),
    add: (client, state) => void states.set(client, state),
    rightsOf: brokerRights(prefix),
    count: refusals.count,
    refuse: (reason, message, facts = {}) => {
      refusals.count(reason, facts);
      const error = new Error(message);
      counted.add(error);
      return error;
    },
    isCounted: (error) => counted.has(error),
  };
};
