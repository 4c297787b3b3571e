import { defaultTopicPrefix, topicsUnder } from '@infrakit/core';
import type { Events, Log, Plugins } from '@infrakit/spi';
import type { Connection } from './connection/connection.ts';
import { pluginRegistry, type Registry } from './discovery/registry.ts';
import { pluginsPort } from './discovery/resolve.ts';
import { badMessages } from './events/bad-messages.ts';
import { eventSubscriber } from './events/events.ts';
import { managedEvents } from './events/managed-events.ts';
import { endLostCalls } from './rpc/lost-calls.ts';
import { rpcClient } from './rpc/rpc-client.ts';
import type { RpcClock } from './rpc/rpc-frame.ts';

export interface BusClientOptions {
  /** Closed with the client. */
  readonly connection: Connection;
  readonly prefix?: string;
  /** Name of this machine. */
  readonly host: string;
  /** Whether a process of this machine lives; left out, only the bus tells. */
  readonly isLiving?: (pid: number) => boolean;
  readonly clock: RpcClock;
  readonly newId: () => string;
  readonly log: Log;
}

/** Who uses the bus and offers nothing on it, such as a command line: it calls and listens, and nobody hears of it. */
export interface BusClient {
  readonly plugins: Plugins;
  readonly subscribe: Events['subscribe'];
  readonly registry: Registry;
  readonly close: () => Promise<void>;
}

const nothingRunsHere = (): undefined => undefined;

/** Opens a client over a connection, at once: what is on the bus becomes known as it arrives. */
export const openBusClient = (options: BusClientOptions): BusClient => {
  const { connection, host, clock, newId, log } = options;
  const { after, nowMs } = clock;
  const topics = topicsUnder(options.prefix ?? defaultTopicPrefix);
  const registry = pluginRegistry({ connection, topics, after, nowMs, log });
  const client = rpcClient({ connection, topics, host, newId, clock, log });
  const stopLostCalls = endLostCalls({ connection, registry, client, after, host, isLiving: options.isLiving });
  return {
    plugins: pluginsPort({ registry, client, local: nothingRunsHere }),
    subscribe: managedEvents(registry, eventSubscriber({ connection, topics, bad: badMessages({ log, nowMs }) })),
    registry,
    close: async () => {
      stopLostCalls();
      registry.close();
      client.close();
      await connection.close();
    },
  };
};
