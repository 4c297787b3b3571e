import { AppError, matchesFilter } from '@infrakit/core';
import type { After, Log } from '@infrakit/spi';
import { clientRoutes } from './client-routes.ts';
import type { Connection, Message, Will } from './connection.ts';
import type { FilterRequest, LinkListener, OpenLink } from './link.ts';
import { linkedConnection } from './linked-connection.ts';
import { lowerQos } from './qos.ts';

export interface MemoryBrokerDeps {
  readonly after: After;
  readonly log: Log;
  /** The wait before each attempt to reconnect, in ms; 10 when left out. */
  readonly reconnectMs?: number;
  /** Default deadline of a publish and of `ready`, in ms; 10 s when left out. */
  readonly timeoutMs?: number;
}

/** A broker in memory, for unit tests: the rules of MQTT, no network, delivery in microtasks. */
export interface MemoryBroker {
  /** A connected client. Another one with the same id takes its place, and its will is sent [MQTT-3.1.4-2]. */
  readonly connect: (options: { readonly clientId: string; readonly will?: Will }) => Connection;
  /** What is retained now, by topic. */
  readonly retained: () => ReadonlyMap<string, Uint8Array>;
  /** The network between broker and client fails once: the will is sent, the client reconnects. */
  readonly sever: (clientId: string) => void;
  /** All connections end, without wills, as on a killed broker; nobody can connect until `start`. */
  readonly stop: () => void;
  /** Lets clients in again; what was retained is forgotten unless it is kept. */
  readonly start: (options: { readonly keepRetained: boolean }) => void;
  /** `stop` and `start`. */
  readonly restart: (options: { readonly keepRetained: boolean }) => void;
  /** From now on nothing is answered and nothing delivered, and no connection ends. */
  readonly freeze: () => void;
  /** Does all that was asked of it since `freeze`. */
  readonly thaw: () => void;
}

interface Client {
  readonly id: string;
  readonly will: Will | undefined;
  readonly listener: LinkListener;
  /** By filter; each value forgets its subscription. */
  readonly subscriptions: Map<string, () => void>;
  /** What it was promised and not yet given; each value ends one wait. */
  readonly pending: Set<(error: AppError) => void>;
}

const takenOver = 'another client took over the client id';

const lost = (reason: string): AppError => new AppError('BUS_UNAVAILABLE', reason);

/** A running broker without clients and without retained messages. */
export const memoryBroker = ({ after, log, reconnectMs = 10, timeoutMs = 10_000 }: MemoryBrokerDeps): MemoryBroker => {
  const retained = new Map<string, Message>();
  const clients = new Map<string, Client>();
  const routes = clientRoutes<Client>();
  let tasks: (() => void)[] = [];
  let isRunning = true;
  let isFrozen = false;

  const work = (): void => {
    while (!isFrozen) {
      const task = tasks.shift();
      if (task === undefined) return;
      task();
    }
  };
  const soon = (task: () => void): void => {
    tasks.push(task);
    queueMicrotask(work);
  };
  const isPresent = (client: Client): boolean => clients.get(client.id) === client;

  const route = (message: Message, isRetain: boolean): void => {
    if (isRetain && message.payload.byteLength === 0) retained.delete(message.topic);
    else if (isRetain) retained.set(message.topic, { ...message, retain: true });
    for (const [client, qos] of routes.match(message.topic)) {
      client.listener.message({ ...message, qos: lowerQos(qos, message.qos) });
    }
  };

  const subscribe = (client: Client, { filter, qos }: FilterRequest): undefined => {
    client.subscriptions.get(filter)?.();
    client.subscriptions.set(filter, routes.add(client, filter, qos));
    for (const message of [...retained.values()]) {
      if (matchesFilter(filter, message.topic))
        client.listener.message({ ...message, qos: lowerQos(qos, message.qos) });
    }
  };

  const forget = (client: Client, reason: string): void => {
    if (isPresent(client)) clients.delete(client.id);
    for (const remove of client.subscriptions.values()) remove();
    for (const reject of client.pending) reject(lost(reason));
    client.pending.clear();
  };

  /** The connection breaks: the broker sends the will, and the client learns of it unless it broke it itself. */
  const breakOff = (client: Client, reason: string): void => {
    if (!isPresent(client)) return;
    forget(client, reason);
    if (client.will === undefined) return;
    const { topic, payload, qos, retain } = client.will;
    soon(() => route({ topic, payload: Buffer.from(payload), qos, retain: false }, retain));
  };

  /** Does what a client asks when its turn comes; what is not done when its connection ends never is. */
  const ask = <T>(client: Client, answer: () => T): Promise<T> =>
    new Promise((resolve, reject) => {
      if (!isPresent(client)) return reject(lost('the connection has ended'));
      client.pending.add(reject);
      soon(() => {
        if (client.pending.delete(reject)) resolve(answer());
      });
    });

  const accept = (client: Client): void => {
    const before = clients.get(client.id);
    if (before !== undefined) {
      breakOff(before, takenOver);
      before.listener.down(lost(takenOver));
    }
    clients.set(client.id, client);
    client.listener.up({
      protocol: 'memory',
      maxInFlight: 65_535,
      maxPacketBytes: 268_435_455,
      publish: async (topic, payload, { qos, retain }) => {
        const message: Message = { topic, payload: Buffer.from(payload), qos, retain: false };
        const routed = ask(client, () => route(message, retain));
        if (qos === 1) await routed;
        else routed.catch((error: unknown) => log.debug({ err: error, topic }, 'message lost with its connection'));
      },
      subscribe: (requests) => ask(client, () => requests.map((request) => subscribe(client, request))),
      unsubscribe: (filter) =>
        ask(client, () => {
          client.subscriptions.get(filter)?.();
          client.subscriptions.delete(filter);
        }),
      end: () => ask(client, () => forget(client, 'the client said goodbye')),
    });
  };

  const openFor =
    (id: string, will: Will | undefined): OpenLink =>
    (listener) => {
      const client: Client = { id, will, listener, subscriptions: new Map(), pending: new Set() };
      let isWanted = true;
      if (!isRunning) listener.down(lost('the memory broker is stopped'));
      else if (isFrozen) soon(() => isWanted && isRunning && accept(client));
      else accept(client);
      return () => {
        isWanted = false;
        breakOff(client, 'the client dropped the connection');
      };
    };

  const stop = (): void => {
    isRunning = false;
    tasks = [];
    for (const client of [...clients.values()]) {
      forget(client, 'the memory broker stopped');
      client.listener.down(lost('the memory broker stopped'));
    }
  };
  const start = ({ keepRetained }: { readonly keepRetained: boolean }): void => {
    if (!keepRetained) retained.clear();
    isRunning = true;
  };

  return {
    connect: ({ clientId, will }) =>
      linkedConnection(
        { clientId, broker: 'the memory broker', open: openFor(clientId, will), waitMs: () => reconnectMs, timeoutMs },
        { after, log },
      ),
    retained: () => new Map([...retained].map(([topic, { payload }]) => [topic, payload])),
    sever: (clientId) => {
      const client = clients.get(clientId);
      if (client === undefined) return;
      breakOff(client, 'the network failed');
      client.listener.down(lost('the network failed'));
    },
    stop,
    start,
    restart: (options) => {
      stop();
      start(options);
    },
    freeze: () => {
      isFrozen = true;
    },
    thaw: () => {
      isFrozen = false;
      queueMicrotask(work);
    },
  };
};
