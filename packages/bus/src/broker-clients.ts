import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { AppError, checkFilter, checkTopic } from '@infrakit/core';
import type { After } from '@infrakit/spi';
import type { Aedes, AedesOptions, AuthenticateError, Client, ConnectPacket } from 'aedes';
import { packetType } from './broker-frames.ts';
import { type BrokerLimits, type Refusal, type Refusals, rateLimit } from './broker-limits.ts';
import { brokerRights, isGuest, type Principal } from './broker-rights.ts';
import { brokerStream } from './broker-stream.ts';
import type { BrokerUsers } from './broker-users.ts';

/** How a client came in: over the UNIX socket, or over TCP with or without TLS. */
export type Door = 'socket' | 'tcp';

interface ClientState {
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
  isKeepaliveOver: boolean;
}

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
  readonly counts: Readonly<ClientCounts>;
}

// [MQTT-3.2.2.3]: connect return codes.
const returnCodes = { identifier: 2, unavailable: 3, credentials: 4, forbidden: 5 } as const;

const connectError = (message: string, returnCode: number): AuthenticateError =>
  Object.assign(new Error(message), { returnCode });

const work: ReadonlySet<number> = new Set(Object.values(packetType));

/** Ids of one principal never meet those of another: nobody takes over, or wipes, a session that is not theirs [MQTT-3.1.4-2]. */
const sessionOwner = (door: Door, username: string | undefined): string => {
  if (door === 'socket') return '';
  return username === undefined ? 'anonymous/' : `user/${encodeURIComponent(username)}/`;
};

/** Makes the session end with its connection: a guest's would queue messages for somebody who may never come back. */
const makeClean = (client: Client, connect: ConnectPacket | undefined): void => {
  if (connect !== undefined) connect.clean = true;
  Reflect.set(client, 'clean', true);
};

const isLegal = (check: () => void, bytes: number, limit: number): boolean => {
  if (bytes > limit) return false;
  try {
    check();
    return true;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
};

export const brokerClients = (options: BrokerClientsOptions, deps: BrokerClientsDeps): BrokerClients => {
  const { users, limits, hasRoomFor } = options;
  const { after, now, refusals } = deps;
  const rightsOf = brokerRights(options.prefix);
  const states = new WeakMap<Client, ClientState>();
  const counted = new WeakSet<Error>();
  let passwordChecks = 0;
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

  /** Counts a refusal; the error that aedes ends the connection with. */
  const refuse = (reason: Refusal, message: string, facts: Readonly<Record<string, unknown>> = {}): Error => {
    refusals.count(reason, facts);
    const error = new Error(message);
    counted.add(error);
    return error;
  };

  const isLegalTopic = (topic: string): boolean =>
    isLegal(() => checkTopic(topic), Buffer.byteLength(topic), limits.topicBytes);

  const principalFor = async (
    state: ClientState,
    username: string | undefined,
    password: Uint8Array | undefined,
  ): Promise<Principal | 'busy' | undefined> => {
    if (state.door === 'socket') return { kind: 'local' };
    if (users === undefined) return { kind: 'anonymous' };
    if (username === undefined || password === undefined) return undefined;
    if (passwordChecks >= limits.passwordChecks) return 'busy';
    passwordChecks += 1;
    try {
      const role = await users.check(username, password);
      return role === undefined ? undefined : { kind: 'user', name: username, role };
    } finally {
      passwordChecks -= 1;
    }
  };

  const handlers: BrokerClients['handlers'] = {
    preConnect: (client, packet, done) => {
      const state = states.get(client);
      if (state === undefined) return done(new Error('unknown connection'), false);
      if (packet.clientId === '' && packet.clean === false)
        state.connectFault = 'client-id'; // [MQTT-3.1.3-8]
      else if (!isLegal(() => undefined, Buffer.byteLength(packet.clientId), limits.topicBytes)) {
        state.connectFault = 'client-id';
      } else if (packet.will !== undefined && !isLegalTopic(packet.will.topic)) state.connectFault = 'topic';
      const owner = sessionOwner(state.door, users === undefined ? undefined : packet.username);
      if (packet.clientId !== '') packet.clientId = `${owner}${packet.clientId}`;
      state.connect = packet;
      done(null, true);
    },

    authenticate: (client, username, password, done) => {
      const state = states.get(client);
      const fault = state?.connectFault;
      const fail = (reason: Refusal, code: number, facts: Readonly<Record<string, unknown>> = {}): void => {
        const error = connectError('refused', code);
        counted.add(error);
        refusals.count(reason, { clientId: client.id, ...facts });
        done(error, null);
      };
      if (state === undefined) return fail('authentication', returnCodes.forbidden);
      if (fault !== undefined) {
        return fail(fault, fault === 'client-id' ? returnCodes.identifier : returnCodes.forbidden);
      }
      principalFor(state, username, password).then(
        (principal) => {
          if (principal === 'busy') return fail('authentication', returnCodes.unavailable, { why: 'too many at once' });
          if (principal === undefined) {
            const code = username === undefined ? returnCodes.forbidden : returnCodes.credentials;
            return fail('authentication', code, { username });
          }
          if (isGuest(principal)) {
            if (state.connect?.will !== undefined)
              return fail('publish-right', returnCodes.forbidden, { why: 'a will' });
            makeClean(client, state.connect);
          }
          state.principal = principal;
          state.connect = undefined;
          done(null, true);
        },
        (error: unknown) => fail('authentication', returnCodes.unavailable, { err: error }),
      );
    },

    authorizePublish: (client, packet, done) => {
      // No client: a will of the last run that aedes still owes.
      const state = client === null ? undefined : states.get(client);
      const { topic, retain } = packet;
      const facts = { clientId: client?.id, topic: topic.slice(0, 200) };
      counts.publishesReceived += 1;
      if (!isLegalTopic(topic)) return done(refuse('topic', 'the topic is not legal', facts));
      if (state !== undefined && !(state.principal && rightsOf(state.principal).mayPublish(topic))) {
        counts.publishesDropped += 1;
        return done(refuse('publish-right', 'not authorised to publish', facts));
      }
      if (retain && !hasRoomFor(topic, Buffer.byteLength(packet.payload))) {
        counts.publishesDropped += 1;
        return done(refuse('retained-full', 'too much is retained', facts));
      }
      done(null);
    },

    authorizeSubscribe: (client, subscription, done) => {
      const state = states.get(client);
      const { topic } = subscription;
      const facts = { clientId: client.id, filter: topic.slice(0, 200) };
      const isLegalFilter = isLegal(() => checkFilter(topic), Buffer.byteLength(topic), limits.topicBytes);
      const isNew = state !== undefined && !state.filters.has(topic);
      if (!isLegalFilter) refusals.count('topic', facts);
      else if (isNew && state.filters.size >= limits.subscriptions) refusals.count('subscriptions', facts);
      else {
        if (isNew) {
          state.filters.add(topic);
          counts.subscriptions += 1;
        }
        return done(null, subscription);
      }
      done(null, null);
    },

    authorizeForward: (client, packet) => {
      const state = states.get(client);
      if (state?.principal === undefined || !rightsOf(state.principal).mayReceive(packet.topic)) return null;
      const bytes = packet.topic.length + packet.payload.length;
      // Retained messages come one by one, each when the last is written; live ones wait for nobody.
      if (isGuest(state.principal) && !packet.retain) {
        const waiting = state.stream.writableLength + state.promisedBytes;
        if (waiting + bytes > limits.guestBacklogBytes / 2 && waiting > 0) {
          counts.publishesDropped += 1;
          return null;
        }
        if (state.promisedBytes === 0) {
          setImmediate(() => {
            state.promisedBytes = 0;
          });
        }
        state.promisedBytes += bytes;
      }
      counts.publishesSent += 1;
      return packet;
    },
  };

  const onClientError = (client: Client, error: Error): void => {
    const state = states.get(client);
    // What the system says of a connection that broke is nobody's fault.
    if (counted.has(error) || state?.isKeepaliveOver || 'syscall' in error) return;
    const isSlow = state?.stream.writableNeedDrain ?? false;
    refusals.count(isSlow ? 'slow' : 'malformed', { clientId: client.id, err: error });
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
      errorFor: (fault) => {
        const reason = { 'too-large': 'packet-size', 'too-fast': 'rate', malformed: 'malformed' } as const;
        return refuse(reason[fault], `the connection ends: ${fault}`, { door });
      },
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
      isKeepaliveOver: false,
    };
    const client = broker.handle(stream);
    states.set(client, state);
    const stopTimer = after(limits.connectTimeoutMs, () => {
      if (state?.principal === undefined)
        stream.destroy(refuse('connect-timeout', 'CONNECT did not arrive in time', { door }));
    });
    stream.once('close', () => {
      stopTimer();
      counts.subscriptions -= state?.filters.size ?? 0;
      state?.filters.clear();
    });
  };

  return {
    handlers,
    watch: (broker) => {
      broker.on('clientError', onClientError);
      broker.on('connectionError', onClientError);
      broker.on('keepaliveTimeout', (client) => {
        const state = states.get(client);
        if (state !== undefined) state.isKeepaliveOver = true;
      });
      broker.on('unsubscribe', (filters, client) => {
        const state = states.get(client);
        for (const filter of filters) if (state?.filters.delete(filter)) counts.subscriptions -= 1;
      });
    },
    accept,
    counts,
  };
};
