import { AppError } from '@infrakit/core';
import type { Will } from '../connection/connection.ts';
import type { LinkListener } from '../connection/link.ts';
import type { Qos } from '../connection/qos.ts';
import { clientRoutes } from './client-routes.ts';

/** A client that lives in the process of its broker. */
export interface LocalClient {
  readonly id: string;
  readonly will: Will | undefined;
  readonly listener: LinkListener;
  /** By filter; each value forgets its subscription. */
  readonly subscriptions: Map<string, () => void>;
  /** What it was promised and not yet given; each value ends one wait. */
  readonly pending: Set<(error: AppError) => void>;
}

/** The local clients of one broker, and what the rules of MQTT say of them. */
export interface LocalClients<Client extends LocalClient> {
  readonly find: (id: string) => Client | undefined;
  readonly all: () => readonly Client[];
  readonly isPresent: (client: Client) => boolean;
  /** Lets it in; another one with the same id is thrown out, and its will is sent [MQTT-3.1.4-2]. */
  readonly enter: (client: Client) => void;
  /** Replaces an earlier subscription to the same filter. Whether there was none. */
  readonly subscribe: (client: Client, filter: string, qos: Qos) => boolean;
  /** Whether there was one. */
  readonly unsubscribe: (client: Client, filter: string) => boolean;
  /** Who gets a message, and at most at which QoS. */
  readonly match: (topic: string) => ReadonlyMap<Client, Qos>;
  /** It has said goodbye: no will. */
  readonly leave: (client: Client, reason: string) => void;
  /** It is gone without a word: its will is sent. What it dropped itself it is not told of. */
  readonly breakOff: (client: Client, reason: string) => void;
  /** Work of a client, which ends when the client does. Errors: `BUS_UNAVAILABLE`. */
  readonly whilePresent: <T>(client: Client, work: () => Promise<T>) => Promise<T>;
}

/** Why a local client is not connected. */
export const lost = (reason: string): AppError => new AppError('BUS_UNAVAILABLE', reason);

/** A client that asks to be let in. */
export const localClient = (id: string, will: Will | undefined, listener: LinkListener): LocalClient => ({
  id,
  will,
  listener,
  subscriptions: new Map(),
  pending: new Set(),
});

/** No clients yet. */
export const localClients = <Client extends LocalClient>(
  sendWill: (client: Client, will: Will) => void,
): LocalClients<Client> => {
  const clients = new Map<string, Client>();
  const routes = clientRoutes<Client>();
  const isPresent = (client: Client): boolean => clients.get(client.id) === client;

  const leave = (client: Client, reason: string): void => {
    if (isPresent(client)) clients.delete(client.id);
    for (const remove of client.subscriptions.values()) remove();
    client.subscriptions.clear();
    for (const end of client.pending) end(lost(reason));
    client.pending.clear();
  };

  const breakOff = (client: Client, reason: string): void => {
    if (!isPresent(client)) return;
    leave(client, reason);
    if (client.will !== undefined) sendWill(client, client.will);
  };

  return {
    find: (id) => clients.get(id),
    all: () => [...clients.values()],
    isPresent,
    enter: (client) => {
      const before = clients.get(client.id);
      if (before !== undefined) {
        const reason = 'another client took over the client id';
        breakOff(before, reason);
        before.listener.down(lost(reason));
      }
      clients.set(client.id, client);
    },
    subscribe: (client, filter, qos) => {
      const before = client.subscriptions.get(filter);
      before?.();
      client.subscriptions.set(filter, routes.add(client, filter, qos));
      return before === undefined;
    },
    unsubscribe: (client, filter) => {
      client.subscriptions.get(filter)?.();
      return client.subscriptions.delete(filter);
    },
    match: routes.match,
    leave,
    breakOff,
    whilePresent: (client, work) =>
      new Promise((resolve, reject) => {
        if (!isPresent(client)) return reject(lost('the connection has ended'));
        client.pending.add(reject);
        work()
          .then(resolve, reject)
          .finally(() => client.pending.delete(reject));
      }),
  };
};
