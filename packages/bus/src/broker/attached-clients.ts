import { AppError } from '@infrakit/core';
import type { Aedes, PublishPacket } from 'aedes';
import type { Message, Will } from '../connection/connection.ts';
import type { FilterRequest, OpenLink } from '../connection/link.ts';
import { lowerQos, type Qos } from '../connection/qos.ts';
import type { ClientCounts } from './broker-client-state.ts';
import type { BrokerEmitter } from './broker-emitter.ts';
import { isLegalFilter } from './broker-legal.ts';
import type { BrokerLimits } from './broker-limits.ts';
import type { Retained } from './broker-retained.ts';
import { type LocalClient, localClient, localClients, lost } from './local-clients.ts';

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
  readonly subscriptions: () => number;
  /** Throws everybody out and sends their wills; nobody can attach any more. */
  readonly close: () => void;
}

interface Client extends LocalClient {
  /** What is still to be handed over, in order. */
  readonly outbox: (() => void)[];
  /** Ends when the last publish is in the broker: the order of a client is kept [MQTT-4.6.0-6]. */
  last: Promise<unknown>;
}

/** So much is handed over before other work of the process gets its turn. */
const perTurn = 500;

const qosOf = (qos: number): Qos => (qos === 1 || qos === 2 ? qos : 0);

/** Attaches clients to a broker of this process. */
export const attachedClients = (options: AttachedClientsOptions): AttachedClients => {
  const { broker, emitter, limits, counts, refusal, retained } = options;
  /** Publishes of ours that the broker has not sent on yet, by their payload, which no other has. */
  const underWay = new Map<unknown, () => void>();
  let isOpen = true;

  const clients = localClients<Client>((client, { topic, payload, qos, retain }) => {
    // What it published before is before its will.
    client.last
      .then(() => emit(topic, Buffer.from(payload), qos, retain))
      .catch((error: unknown) => broker.emit('error', error));
  });

  const handOver = (client: Client): void => {
    for (const task of client.outbox.splice(0, perTurn)) if (clients.isPresent(client)) task();
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
    for (const [client, wanted] of clients.match(topic)) {
      deliver(client, { topic, payload, retain: false, qos: lowerQos(wanted, qosOf(qos)) });
    }
    underWay.get(sent)?.();
  });

  /** Resolves when it is stored and sent on; not when everybody has it, for a slow client is nobody else's concern. */
  const emit = async (topic: string, bytes: Uint8Array, qos: Qos, retain: boolean): Promise<void> => {
    // A view of its own, for it names this publish.
    const payload = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const packet: PublishPacket = { cmd: 'publish', topic, payload, qos, retain, dup: false };
    const refused = refusal(packet);
    if (refused !== undefined)
      throw new AppError('BUS_REFUSED', `the broker refuses this: ${refused.message}`, { facts: { topic } });
    await new Promise<void>((resolve, reject) => {
      underWay.set(payload, resolve);
      broker.publish(packet, (error) => (error ? reject(lost(error.message)) : resolve()));
    }).finally(() => underWay.delete(payload));
  };

  const subscribe = (client: Client, { filter, qos }: FilterRequest): AppError | undefined => {
    if (!isLegalFilter(filter, limits.topicBytes)) {
      return new AppError('BUS_REFUSED', 'the broker does not accept the topic filter', { facts: { filter } });
    }
    clients.subscribe(client, filter, qos);
    for (const { topic, payload, qos: kept } of retained(filter)) {
      deliver(client, { topic, payload, retain: true, qos: lowerQos(qos, kept) });
    }
    return undefined;
  };

  /** Done at once, so that what a client publishes next comes after it; answered when it has been handed what came before. */
  const answer = <T>(client: Client, ask: () => T): Promise<T> =>
    clients.whilePresent(client, () => {
      const value = ask();
      return new Promise((resolve) => soon(client, () => resolve(value)));
    });

  const accept = (client: Client): void => {
    clients.enter(client);
    client.listener.up({
      protocol: 'memory',
      maxInFlight: 65_535,
      maxPacketBytes: limits.packetBytes,
      isHeard: (topic) => clients.match(topic).size > 0 || emitter.isHeard(topic),
      publish: (topic, payload, { qos, retain }) =>
        clients.whilePresent(client, () => {
          const sent = client.last.then(() => emit(topic, payload, qos, retain));
          client.last = sent.catch(() => undefined);
          return sent.then(() => answer(client, () => undefined));
        }),
      subscribe: (requests) => answer(client, () => requests.map((request) => subscribe(client, request))),
      unsubscribe: (filter) => answer(client, () => void clients.unsubscribe(client, filter)),
      end: async () => {
        await client.last;
        clients.leave(client, 'the client said goodbye');
      },
    });
  };

  return {
    open:
      ({ clientId, will }) =>
      (listener) => {
        const client: Client = { ...localClient(clientId, will, listener), outbox: [], last: Promise.resolve() };
        if (isOpen) accept(client);
        else listener.down(lost('the broker has stopped'));
        return () => clients.breakOff(client, 'the client dropped the connection');
      },
    count: () => clients.all().length,
    subscriptions: () => clients.all().reduce((sum, { subscriptions }) => sum + subscriptions.size, 0),
    close: () => {
      isOpen = false;
      for (const client of clients.all()) {
        clients.breakOff(client, 'the broker has stopped');
        client.listener.down(lost('the broker has stopped'));
      }
    },
  };
};
