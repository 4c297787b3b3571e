import { matchesFilter } from '@infrakit/core';
import type { After, Log } from '@infrakit/spi';
import { type LocalClient, localClient, localClients, lost } from '../broker/local-clients.ts';
import type { Connection, Message, Will } from './connection.ts';
import type { FilterRequest, OpenLink } from './link.ts';
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

/** A running broker without clients and without retained messages. */
export const memoryBroker = ({ after, log, reconnectMs = 10, timeoutMs = 10_000 }: MemoryBrokerDeps): MemoryBroker => {
  const retained = new Map<string, Message>();
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

  const route = (message: Message, isRetain: boolean): void => {
    if (isRetain && message.payload.byteLength === 0) retained.delete(message.topic);
    else if (isRetain) retained.set(message.topic, { ...message, retain: true });
    for (const [client, qos] of clients.match(message.topic)) {
      client.listener.message({ ...message, qos: lowerQos(qos, message.qos) });
    }
  };

  const clients = localClients((_client, { topic, payload, qos, retain }) =>
    soon(() => route({ topic, payload: Buffer.from(payload), qos, retain: false }, retain)),
  );

  const subscribe = (client: LocalClient, { filter, qos }: FilterRequest): undefined => {
    clients.subscribe(client, filter, qos);
    for (const message of [...retained.values()]) {
      if (matchesFilter(filter, message.topic))
        client.listener.message({ ...message, qos: lowerQos(qos, message.qos) });
    }
  };

  /** Does what a client asks when its turn comes; what is not done when its connection ends never is. */
  const ask = <T>(client: LocalClient, answer: () => T): Promise<T> =>
    clients.whilePresent(
      client,
      () =>
        new Promise((resolve) =>
          soon(() => {
            if (clients.isPresent(client)) resolve(answer());
          }),
        ),
    );

  const accept = (client: LocalClient): void => {
    clients.enter(client);
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
      unsubscribe: (filter) => ask(client, () => void clients.unsubscribe(client, filter)),
      end: () =>
        new Promise((resolve) =>
          soon(() => {
            clients.leave(client, 'the client said goodbye');
            resolve();
          }),
        ),
    });
  };

  const openFor =
    (id: string, will: Will | undefined): OpenLink =>
    (listener) => {
      const client = localClient(id, will, listener);
      let isWanted = true;
      if (!isRunning) listener.down(lost('the memory broker is stopped'));
      else if (isFrozen) soon(() => isWanted && isRunning && accept(client));
      else accept(client);
      return () => {
        isWanted = false;
        clients.breakOff(client, 'the client dropped the connection');
      };
    };

  const stop = (): void => {
    isRunning = false;
    tasks = [];
    for (const client of clients.all()) {
      clients.leave(client, 'the memory broker stopped');
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
      const client = clients.find(clientId);
      if (client === undefined) return;
      clients.breakOff(client, 'the network failed');
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
