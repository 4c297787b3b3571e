import type { EventEmitter } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { defaultTopicPrefix, topicsUnder } from '@infrakit/core';
import type { After, Log } from '@infrakit/spi';
import { Aedes } from 'aedes';
import { type AttachedClients, attachedClients } from './attached-clients.ts';
import { brokerAcks } from './broker-acks.ts';
import type { Door } from './broker-client-state.ts';
import { brokerClients } from './broker-clients.ts';
import { brokerEmitter } from './broker-emitter.ts';
import { type BrokerLimits, defaultBrokerLimits, refusals as refusalsOf } from './broker-limits.ts';
import { openBrokerPersistence } from './broker-persistence.ts';
import { brokerReaders, type OpenedReader } from './broker-readers.ts';
import { listenOnSocket } from './broker-socket.ts';
import { type BrokerStats, systemTopics } from './broker-sys.ts';
import { type BrokerTls, checkListen, type ListenAddress, listenOnTcp, tcpServer } from './broker-tcp.ts';
import type { BrokerUsers } from './broker-users.ts';
import { publishSafety } from './publish-safety.ts';
import type { ReaderIdentity } from './reader-session.ts';

export interface EmbeddedBrokerOptions {
  /** TCP; left out, there is none. Port 0 picks a free one. */
  readonly listen?: ListenAddress;
  /** UNIX socket, at most 100 bytes (`shortSocketPath`); left out, there is none. */
  readonly socketPath?: string;
  /** A folder of the broker's own for retained messages and sessions; in memory only when left out. */
  readonly persistenceDir?: string;
  /** Who may come in over TCP; left out, anybody on this machine may look. */
  readonly users?: BrokerUsers;
  /** TLS instead of plain TCP. */
  readonly tls?: BrokerTls;
  readonly limits?: Partial<BrokerLimits>;
  /** Of the stack whose topics guests may read. */
  readonly prefix?: string;
  /** How often `$SYS` is published, in ms; 10 s when left out. */
  readonly systemEveryMs?: number;
}

export interface EmbeddedBrokerDeps {
  readonly log: Log;
  readonly after: After;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
}

/** A running broker. */
export interface EmbeddedBroker extends AsyncDisposable {
  /** `undefined` without TCP. */
  readonly port: number | undefined;
  /** As in `INFRAKIT_BROKER`: `mqtt://127.0.0.1:1883`; `undefined` without TCP. */
  readonly address: string | undefined;
  readonly socketPath: string | undefined;
  /** For clients in this process: {@link import('../connection/embedded-connection.ts').connectEmbedded}. */
  readonly open: AttachedClients['open'];
  readonly stats: () => BrokerStats;
  /** Opens a subscriber inside this process, without a socket, with all rights and with or without a lasting session. */
  readonly openReader: (who: ReaderIdentity) => Promise<OpenedReader>;
  /** Throws everybody out (their wills are sent), writes what is unwritten, ends; within 2 s, whatever the clients do. */
  readonly stop: () => Promise<void>;
}

const stopWithinMs = 1_500;

/** Resolves with the work or after `ms`, whichever is first; failures are the log's. */
const within = (ms: number, work: Promise<unknown>, { after, log }: EmbeddedBrokerDeps): Promise<void> =>
  new Promise((resolve) => {
    const stopTimer = after(ms, () => {
      log.warn({ timeoutMs: ms }, 'the broker did not end in time');
      resolve();
    });
    work
      .catch((error: unknown) => log.warn({ err: error }, 'the broker did not end in order'))
      .finally(() => {
        stopTimer();
        resolve();
      });
  });

const closed = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));

const addressOf = (listen: ListenAddress, port: number, isTls: boolean): string => {
  const host = listen.host.includes(':') ? `[${listen.host}]` : listen.host;
  return `${isTls ? 'mqtts' : 'mqtt'}://${host}:${port}`;
};

/**
 * Starts an MQTT 3.1.1 broker in this process with the default rights of DESIGN §3: the UNIX socket may do everything; on
 * TCP guests may subscribe to anything, are forwarded only plugins, events, state and members of `prefix`, and whoever
 * publishes without the right loses the connection, the one way MQTT 3.1.1 has to say no. Retained processes and plugins
 * of the last run are dropped. A mosquitto that bridges to it needs `notifications false`: `$SYS` is nobody's to write.
 * QoS 1 and 2 are acknowledged when each lasting session has the message on disk, or its client has acknowledged it; what is
 * retained is on disk a few milliseconds later. Errors: `BROKER_INVALID` (what to set
 * instead), `BUS_UNAVAILABLE` (port or socket in use).
 */
export const startEmbeddedBroker = async (
  options: EmbeddedBrokerOptions,
  deps: EmbeddedBrokerDeps,
): Promise<EmbeddedBroker> => {
  const { listen, socketPath, users, tls, prefix = defaultTopicPrefix, systemEveryMs = 10_000 } = options;
  const { log, after, now } = deps;
  const limits: BrokerLimits = { ...defaultBrokerLimits, ...options.limits };
  if (listen !== undefined) checkListen(listen, { tls: tls !== undefined, users: users !== undefined });
  const topics = topicsUnder(prefix);
  const startedAtMs = now();
  const refusals = refusalsOf({ log, now });
  const persistence = await openBrokerPersistence({ dir: options.persistenceDir, limits }, { log, after, refusals });
  persistence.forgetRetained((topic) => {
    const parsed = topics.parse(topic);
    // No process of the last run is connected any more, so every plugin is an orphan; who lives comes back and says so.
    return parsed?.kind === 'process' || parsed?.kind === 'plugin';
  });
  const clients = brokerClients(
    { prefix, users, limits, hasRoomFor: persistence.retained.hasRoomFor },
    { after, now, refusals },
  );
  const emitter = brokerEmitter();
  const safety = publishSafety();
  const acks = brokerAcks({ safety, received: persistence.received });
  const { preConnect, authorizePublish } = clients.handlers;
  const broker: Aedes = await Aedes.createBroker({
    ...clients.handlers,
    ...(authorizePublish !== undefined && { authorizePublish: acks.authorizePublish(authorizePublish) }),
    preConnect: (client, packet, done) =>
      preConnect?.(client, packet, (error, isWelcome) => {
        if (isWelcome) readers.release(packet.clientId);
        done(error, isWelcome);
      }),
    mq: emitter.mq,
    id: persistence.run,
    // No bound on the listeners of one connection, and no warning of them.
    concurrency: 0,
    persistence: persistence.aedes,
    drainTimeout: limits.stallMs,
    // The deadline of `broker-clients.ts`, which is counted, comes first.
    connectTimeout: 2 * limits.connectTimeoutMs,
    // Ids are ours by then, with their owner before them.
    maxClientsIdLength: 65_535,
  });
  const failing: EventEmitter = broker;
  failing.on('error', (error: unknown) => log.error({ err: error }, 'the broker failed at something'));
  clients.watch(broker);
  const clientsConnected = (): number => broker.connectedClients + attached.count();
  const readers = brokerReaders({ broker, persistence, limits, counts: clients.counts, safety, after });
  acks.watch(broker);
  let clientsMaximum = 0;
  broker.on('client', () => {
    clientsMaximum = Math.max(clientsMaximum, clientsConnected());
  });

  const attached = attachedClients({
    broker,
    emitter,
    limits,
    counts: clients.counts,
    refusal: clients.refusal,
    retained: persistence.retained.list,
  });

  const sockets = { socket: new Set<Socket>(), tcp: new Set<Socket>() };
  const mayConnect =
    (door: Door) =>
    (socket: Socket): boolean => {
      const open = sockets[door];
      if (open.size >= limits.connections) {
        refusals.count('connections', { door });
        return false;
      }
      open.add(socket);
      socket.once('close', () => open.delete(socket));
      socket.on('error', () => socket.destroy());
      return true;
    };
  const servers: Server[] = [];

  const stats = (): BrokerStats => {
    const { publishesDropped, subscriptions, ...counts } = clients.counts;
    return {
      ...counts,
      subscriptions: subscriptions + attached.subscriptions(),
      publishesDropped: publishesDropped + persistence.dropped(),
      uptimeMs: now() - startedAtMs,
      clientsConnected: clientsConnected(),
      clientsMaximum,
      retainedMessages: persistence.retained.count(),
      retainedBytes: persistence.retained.bytes(),
      sessionBytes: persistence.sessionBytes(),
      refused: refusals.counts(),
    };
  };

  let stopSystem = (): void => undefined;
  const version = `aedes version ${Reflect.get(broker, 'version')}`;
  const publishSystem = (): void => {
    for (const [topic, payload] of systemTopics(version, stats())) {
      broker.publish({ cmd: 'publish', topic, payload, qos: 0, retain: true, dup: false }, (error) => {
        if (error) log.debug({ err: error, topic }, 'a counter was not published');
      });
    }
    stopSystem = after(systemEveryMs, publishSystem);
  };

  const end = async (): Promise<void> => {
    stopSystem();
    attached.close();
    readers.close();
    const serversClosed = servers.filter((server) => server.listening).map(closed);
    await within(stopWithinMs, new Promise<void>((resolve) => broker.close(resolve)), deps);
    for (const socket of [...sockets.socket, ...sockets.tcp]) socket.destroy();
    await Promise.all(serversClosed);
    await persistence.close();
  };
  let ended: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    ended ??= end();
    return ended;
  };

  let port: number | undefined;
  try {
    if (socketPath !== undefined) {
      const isAllowed = mayConnect('socket');
      const server = createServer((socket) => {
        if (isAllowed(socket)) clients.accept(broker, socket, 'socket');
        else socket.destroy();
      });
      servers.push(server);
      await listenOnSocket(server, socketPath);
    }
    if (listen !== undefined) {
      const server = tcpServer(tls, {
        onSocket: (socket) => clients.accept(broker, socket, 'tcp'),
        mayConnect: mayConnect('tcp'),
        onTlsError: (error) => refusals.count('tls', { err: error }),
        handshakeTimeoutMs: limits.connectTimeoutMs,
      });
      servers.push(server);
      port = await listenOnTcp(server, listen);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  publishSystem();
  return {
    port,
    address: listen === undefined || port === undefined ? undefined : addressOf(listen, port, tls !== undefined),
    socketPath,
    open: attached.open,
    stats,
    openReader: readers.open,
    stop,
    [Symbol.asyncDispose]: stop,
  };
};
