import { AppError } from '@infrakit/core';
import type { Aedes, PublishPacket } from 'aedes';
import type { ClientCounts } from './broker-client-state.ts';
import type { BrokerEmitter } from './broker-emitter.ts';
import { isLegalFilter } from './broker-legal.ts';
import type { BrokerLimits } from './broker-limits.ts';
import type { Retained } from './broker-retained.ts';
import { clientRoutes } from './client-routes.ts';
import type { Message, Will } from './connection.ts';
import type { FilterRequest, LinkListener, OpenLink } from './link.ts';
import { lowerQos, type Qos } from './qos.ts';

export interface AttachedClientsOptions {
  readonly broker: Aedes;
  readonly emitter: BrokerEmitter;
  readonly limits: BrokerLimits;
  readonly counts: ClientCounts;
  /** Why a publish may not pass; undefined when it may. */
  readonly refusal: (packet: PublishPacket) => Error | undefined;
  readonly retained: (filter: string) => Iterable<Retained>;
}

/** The clients of a broker that live in its own process: no socket, no packets, the same rules. They may do everything. */
export interface AttachedClients {
  /** A client with the same id that is attached already is thrown out [MQTT-3.1.4-2]. */
  readonly open: (options: { readonly clientId: string; readonly will?: Will }) => OpenLink;
  readonly count: () => number;
  /** Throws everybody out and sends their wills; nobody can attach any more. */
  readonly close: () => void;
}

interface Client {
  readonly id: string;
  readonly will: Will | undefined;
  readonly listener: LinkListener;
  /** By filter; each value forgets its subscription. */
  readonly subscriptions: Map<string, () => void>;
  /** What the broker has not got yet; each value ends one wait. */
  readonly pending: Set<(error: AppError) => void>;
  /** What is still to be handed over, in order. */
  readonly outbox: (() => void)[];
  /** Ends when the last publish is in the broker: the order of a client is kept [MQTT-4.6.0-6]. */
  last: Promise<unknown>;
}

/** So much is handed over before other work of the process gets its turn. */
const perTurn = 500;

const gone = (reason: string): AppError => new AppError('BUS_UNAVAILABLE', reason);

const qosOf = (qos: number): Qos => (qos === 1 || qos === 2 ? qos : 0);

/** Attaches clients to a broker of this process. */
export const attachedClients = (options: AttachedClientsOptions): AttachedClients => {
  const { broker, emitter, limits, counts, refusal, retained } = options;
  const clients = new Map<string, Client>();
  const routes = clientRoutes<Client>();
  /** Publishes of ours that the broker has not sent on yet, by their payload, which no other has. */
  const underWay = new Map<unknown, () => void>();
  let isOpen = true;

  const isPresent = (client: Client): boolean => clients.get(client.id) === client;

  const handOver = (client: Client): void => {
    for (const task of client.outbox.splice(0, perTurn)) if (isPresent(client)) task();
    if (client.outbox.length > 0) setImmediate(handOver, client);
  };
  const soon = (client: Client, task: () => void): void => {
    if (client.outbox.push(task) === 1) setImmediate(handOver, client);
  };
  const deliver = (client: Client, message: Message): void => {
    counts.publishesSent += 1;
    soon(client, () => client.listener.message(message));
  };

  emitter.onEach(({ topic, qos, payload: sent }) => {
    const payload = typeof sent === 'string' ? Buffer.from(sent) : sent;
    for (const [client, wanted] of routes.match(topic)) {
      deliver(client, { topic, payload, retain: false, qos: lowerQos(wanted, qosOf(qos)) });
    }
    underWay.get(sent)?.();
  });

  /** Resolves when it is stored and sent on; not when everybody has it, for a slow client is nobody else's concern. */
  const emit = async (topic: string, bytes: Uint8Array, qos: Qos, retain: boolean): Promise<void> => {
    const payload = Buffer.from(bytes);
    const packet: PublishPacket = { cmd: 'publish', topic, payload, qos, retain, dup: false };
    const refused = refusal(packet);
    if (refused !== undefined)
      throw new AppError('BUS_REFUSED', `the broker refuses this: ${refused.message}`, { facts: { topic } });
    await new Promise<void>((resolve, reject) => {
      underWay.set(payload, resolve);
      broker.publish(packet, (error) => (error ? reject(gone(error.message)) : resolve()));
    }).finally(() => underWay.delete(payload));
  };

  const subscribe = (client: Client, { filter, qos }: FilterRequest): AppError | undefined => {
    if (!isLegalFilter(filter, limits.topicBytes)) {
      return new AppError('BUS_REFUSED', 'the broker does not accept the topic filter', { facts: { filter } });
    }
    const before = client.subscriptions.get(filter);
    before?.();
    client.subscriptions.set(filter, routes.add(client, filter, qos));
    if (before === undefined) counts.subscriptions += 1;
    for (const { topic, payload, qos: kept } of retained(filter)) {
      deliver(client, { topic, payload, retain: true, qos: lowerQos(qos, kept) });
    }
    return undefined;
  };

  const unsubscribe = (client: Client, filter: string): void => {
    client.subscriptions.get(filter)?.();
    if (client.subscriptions.delete(filter)) counts.subscriptions -= 1;
  };

  const forget = (client: Client, reason: string): void => {
    if (isPresent(client)) clients.delete(client.id);
    for (const filter of [...client.subscriptions.keys()]) unsubscribe(client, filter);
    for (const end of client.pending) end(gone(reason));
    client.pending.clear();
  };

  const breakOff = (client: Client, reason: string): void => {
    if (!isPresent(client)) return;
    forget(client, reason);
    const { will } = client;
    if (will === undefined) return;
    // What it published before is before its will.
    client.last
      .then(() => emit(will.topic, Buffer.from(will.payload), will.qos, will.retain))
      .catch((error: unknown) => broker.emit('error', error));
  };

  /** Ends with the work, or with the link. */
  const whilePresent = <T>(client: Client, work: () => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      if (!isPresent(client)) return reject(gone('the connection has ended'));
      client.pending.add(reject);
      work()
        .then(resolve, reject)
        .finally(() => client.pending.delete(reject));
    });

  /** Done at once, so that what a client publishes next comes after it; answered when it has been handed what came before. */
  const answer = <T>(client: Client, ask: () => T): Promise<T> =>
    whilePresent(client, () => {
      const value = ask();
      return new Promise((resolve) => soon(client, () => resolve(value)));
    });

  const accept = (client: Client): void => {
    const before = clients.get(client.id);
    if (before !== undefined) {
      const reason = 'another client took over the client id';
      breakOff(before, reason);
      before.listener.down(gone(reason));
    }
    clients.set(client.id, client);
    client.listener.up({
      protocol: 'memory',
      maxInFlight: 65_535,
      maxPacketBytes: limits.packetBytes,
      isHeard: (topic) => routes.match(topic).size > 0 || emitter.isHeard(topic),
      publish: (topic, payload, { qos, retain }) =>
        whilePresent(client, () => {
          const sent = client.last.then(() => emit(topic, payload, qos, retain));
          client.last = sent.catch(() => undefined);
          return sent.then(() => answer(client, () => undefined));
        }),
      subscribe: (requests) => answer(client, () => requests.map((request) => subscribe(client, request))),
      unsubscribe: (filter) => answer(client, () => unsubscribe(client, filter)),
      end: async () => {
        await client.last;
        forget(client, 'the client said goodbye');
      },
    });
  };

  return {
    open:
      ({ clientId, will }) =>
      (listener) => {
        const client: Client = {
          id: clientId,
          will,
          listener,
          subscriptions: new Map(),
          pending: new Set(),
          outbox: [],
          last: Promise.resolve(),
        };
        if (isOpen) accept(client);
        else listener.down(gone('the broker has stopped'));
        return () => breakOff(client, 'the client dropped the connection');
      },
    count: () => clients.size,
    close: () => {
      isOpen = false;
      for (const client of [...clients.values()]) {
        breakOff(client, 'the broker has stopped');
        client.listener.down(gone('the broker has stopped'));
      }
    },
  };
};
