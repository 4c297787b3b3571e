import type { PluginAdvertisement, Topics } from '@infrakit/core';
import type { After, Log, PluginObject } from '@infrakit/spi';
import type { Connection } from '../connection/connection.ts';
import { retainedSubtree } from '../retained/retained-subtree.ts';

/** Whether an incarnation answers or waits, and since which term it leads; kinds without leaders have no term. */
export interface PluginRole {
  readonly role: 'active' | 'standby';
  readonly term?: number;
}

/** What a plugin says of itself: which objects answer to which interface, in the order in which it lists them. */
export const advertisementOf = (
  process: string,
  objects: readonly PluginObject[],
  { role, term }: PluginRole,
): PluginAdvertisement => {
  const interfaces = new Map<string, PluginAdvertisement['interfaces'][number]>();
  for (const { object, description, proxyFor, changesFor } of objects) {
    const { name, version } = description;
    const entry = interfaces.get(name) ?? { name, version, objects: [] };
    interfaces.set(name, entry);
    entry.objects.push({
      name: object,
      ...(proxyFor === undefined ? {} : { proxyFor }),
      ...(changesFor === undefined ? {} : { changesFor }),
    });
  }
  return { process, role, interfaces: [...interfaces.values()], ...(term === undefined ? {} : { term }) };
};

export interface AdvertiseOptions {
  readonly connection: Connection;
  readonly topics: Topics;
  readonly plugin: string;
  readonly incarnation: string;
  readonly after: After;
  readonly log: Log;
}

/** The advertisement of one incarnation on the bus. */
export interface Advertising {
  readonly publish: (advertisement: PluginAdvertisement) => void;
  readonly settled: (timeoutMs: number) => Promise<void>;
  /** Takes it back. Errors: `BUS_UNAVAILABLE` when the broker does not take it. */
  readonly withdraw: (timeoutMs: number) => Promise<void>;
  readonly close: () => void;
}

/** Keeps the topic of an incarnation in place from the first `publish` on. */
export const advertise = ({ topics, plugin, incarnation, ...rest }: AdvertiseOptions): Advertising => {
  const topic = topics.plugin(plugin, incarnation);
  const subtree = retainedSubtree({ ...rest, topics, filters: [topic], isExclusive: true });
  return {
    publish: (advertisement) => subtree.set(topic, JSON.stringify(advertisement)),
    settled: subtree.settled,
    withdraw: (timeoutMs) => {
      subtree.clear(topic);
      return subtree.settled(timeoutMs);
    },
    close: subtree.close,
  };
};
