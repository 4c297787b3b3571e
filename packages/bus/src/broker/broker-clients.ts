import type { Socket } from 'node:net';
import type { After } from '@infrakit/spi';
import type { Aedes, AedesOptions, Client, PublishPacket } from 'aedes';
import { brokerAdmission } from './broker-admission.ts';
import { type ClientCounts, type ClientState, clientBook, type Door } from './broker-client-state.ts';
import { notForBrokers, packetType } from './broker-frames.ts';
import { type BrokerLimits, type Refusals, rateLimit } from './broker-limits.ts';
import { isGuest } from './broker-rights.ts';
import { brokerStream } from './broker-stream.ts';
import { brokerTraffic } from './broker-traffic.ts';
import type { BrokerUsers } from './broker-users.ts';

export interface BrokerClientsOptions {
  readonly prefix: string;
  readonly users: BrokerUsers | undefined;
  readonly limits: BrokerLimits;
  /** Whether a retained message with a payload of so many bytes can be kept. */
  readonly hasRoomFor: (topic: string, payloadBytes: number) => boolean;
}

export interface BrokerClientsDeps {
  readonly after: After;
  readonly now: () => number;
  readonly refusals: Refusals;
}

/** Who is connected, what each may do, and the answers that aedes asks for. */
export interface BrokerClients {
  readonly handlers: Pick<
    AedesOptions,
    'preConnect' | 'authenticate' | 'authorizePublish' | 'authorizeSubscribe' | 'authorizeForward'
  >;
  /** Follows the clients of a broker that has these handlers. */
  readonly watch: (broker: Aedes) => void;
  /** Takes a new connection in. */
  readonly accept: (broker: Aedes, socket: Socket, door: Door) => void;
  /** Why a publish of this process itself may not pass, counted; undefined when it may. */
  readonly refusal: (packet: PublishPacket) => Error | undefined;
  readonly counts: ClientCounts;
}

/** Packets that ask for work. */
const work: ReadonlySet<number> = new Set(Object.values(packetType));

/** How aedes marks the error of a client that speaks another MQTT [MQTT-3.1.2-2]. */
const unknownVersion = 1;

/** Why a packet was not read. */
const faults = { 'too-large': 'packet-size', 'too-fast': 'rate', malformed: 'malformed' } as const;

/** The clients of one broker, none yet. */
export const brokerClients = (options: BrokerClientsOptions, deps: BrokerClientsDeps): BrokerClients => {
  const { users, limits, hasRoomFor } = options;
  const { after, now, refusals } = deps;
  const book = clientBook(options.prefix, limits, refusals);
  const { counts } = book;

  const onClientError = (client: Client, error: Error): void => {
    const state = book.find(client);
    // One end, one line: every message that still waits for the client reports the same.
    if (state?.isEnding) return;
    if (state !== undefined) state.isEnding = true;
    if (book.isCounted(error)) return;
    if (Reflect.get(error, 'errorCode') === unknownVersion) {
      book.count('version');
      return;
    }
    // What is said of a connection that broke, or that its client has ended, is nobody's fault.
    if (client.closed || 'syscall' in error || Reflect.get(error, 'code') === 'EPIPE') return;
    // A stream that was destroyed no longer says that it needs to drain.
    const isSlow = state !== undefined && state.stream.writableLength >= state.stream.writableHighWaterMark;
    book.count(isSlow ? 'slow' : 'malformed', { clientId: client.id, err: error });
  };

  const accept: BrokerClients['accept'] = (broker, socket, door) => {
    const isTrusted = door === 'socket';
    const mayBeGuest = !isTrusted && users === undefined;
    let state: ClientState | undefined;
    const packetBytes = (): number => {
      const principal = state?.principal;
      const isKnown = isTrusted || (principal !== undefined && !isGuest(principal));
      return isKnown ? limits.packetBytes : limits.guestPacketBytes;
    };
    const stream = brokerStream(socket, {
      backlogBytes: mayBeGuest ? limits.guestBacklogBytes : limits.backlogBytes,
      onPacketIn: (type, bytes) => {
        counts.messagesReceived += 1;
        counts.bytesReceived += bytes;
        if (notForBrokers.has(type)) return 'malformed';
        if (bytes > packetBytes()) return 'too-large';
        if (state === undefined || isTrusted || !work.has(type)) return undefined;
        const isGuestNow = state.principal === undefined || isGuest(state.principal);
        const isAllowed = isGuestNow ? state.mayWork() : type !== packetType.publish || state.mayPublishNow();
        return isAllowed ? undefined : 'too-fast';
      },
      onPacketOut: (bytes) => {
        counts.messagesSent += 1;
        counts.bytesSent += bytes;
      },
      errorFor: (fault) => book.refuse(faults[fault], `the connection ends: ${fault}`, { door }),
    });
    state = {
      door,
      stream,
      filters: new Set(),
      mayWork: rateLimit(limits.guestPacketsPerSecond, now),
      mayPublishNow: rateLimit(limits.publishesPerSecond, now),
      principal: undefined,
      connectFault: undefined,
      connect: undefined,
      promisedBytes: 0,
      isEnding: false,
    };
    const client = broker.handle(stream);
    book.add(client, state);
    const stopTimer = after(limits.connectTimeoutMs, () => {
      if (state?.principal === undefined)
        stream.destroy(book.refuse('connect-timeout', 'CONNECT did not arrive in time', { door }));
    });
    stream.once('close', () => {
      stopTimer();
      counts.subscriptions -= state?.filters.size ?? 0;
      state?.filters.clear();
    });
  };

  const traffic = brokerTraffic(book, hasRoomFor);
  return {
    handlers: { ...brokerAdmission(book, users), ...traffic },
    watch: (broker) => {
      broker.on('clientError', onClientError);
      broker.on('connectionError', onClientError);
      broker.on('keepaliveTimeout', (client) => {
        const state = book.find(client);
        if (state !== undefined) state.isEnding = true;
      });
      broker.on('unsubscribe', (filters, client) => {
        const state = book.find(client);
        for (const filter of filters) if (state?.filters.delete(filter)) counts.subscriptions -= 1;
      });
    },
    accept,
    refusal: traffic.refusal,
    counts,
  };
};
