import { compareUtf8, type PluginAdvertisement, type ProcessPresence } from '@infrakit/core';

/** One incarnation of a plugin, as discovery knows it. */
export interface PluginRecord {
  readonly plugin: string;
  readonly incarnation: string;
  readonly advertisement: PluginAdvertisement;
  /** Its process; without one it is not online (DESIGN §3). */
  readonly process: ProcessPresence | undefined;
}

/** What an advertisement says of one object: the interfaces it answers to and the object it stands for. */
export interface AdvertisedName {
  readonly interfaces: ReadonlyMap<string, string>;
  readonly proxyFor: string | undefined;
  readonly changesFor: string | undefined;
}

/** `<plugin>` or `<plugin>/<object>`: what a person writes. */
export const fullName = (plugin: string, object: string): string => (object === '' ? plugin : `${plugin}/${object}`);

const indexes = new WeakMap<PluginAdvertisement, ReadonlyMap<string, AdvertisedName>>();

/** Objects of an advertisement by name; the plugin itself is the empty name. Indexed once. */
export const advertisedNames = (advertisement: PluginAdvertisement): ReadonlyMap<string, AdvertisedName> => {
  const known = indexes.get(advertisement);
  if (known !== undefined) return known;
  type Entry = { -readonly [K in keyof AdvertisedName]: AdvertisedName[K] } & { interfaces: Map<string, string> };
  const names = new Map<string, Entry>();
  for (const { name, version, objects } of advertisement.interfaces) {
    for (const object of objects) {
      const none = { interfaces: new Map<string, string>(), proxyFor: undefined, changesFor: undefined };
      const entry = names.get(object.name) ?? none;
      entry.interfaces.set(name, version);
      entry.proxyFor ??= object.proxyFor;
      entry.changesFor ??= object.changesFor;
      names.set(object.name, entry);
    }
  }
  indexes.set(advertisement, names);
  return names;
};

/** `<nonce>.<count>` taken apart. */
const partsOf = (incarnation: string): readonly [nonce: string, count: number] => {
  const dot = incarnation.lastIndexOf('.');
  return [incarnation.slice(0, dot), Number(incarnation.slice(dot + 1))];
};

/** The nonce of the process that an incarnation is part of. */
export const processOf = (incarnation: string): string => partsOf(incarnation)[0];

/** Orders incarnations: the lowest nonce first, of one process the newest start first. */
export const compareIncarnations = (left: string, right: string): number => {
  const [[nonce, count], [otherNonce, otherCount]] = [partsOf(left), partsOf(right)];
  return compareUtf8(nonce, otherNonce) || otherCount - count;
};

/** The incarnation that answers to a name: online, active, of the highest term; else of the lowest nonce (DESIGN §3). */
export const activeOf = (records: Iterable<PluginRecord>): PluginRecord | undefined => {
  let best: PluginRecord | undefined;
  for (const record of records) {
    if (record.process === undefined || record.advertisement.role !== 'active') continue;
    const byTerm = best === undefined ? 1 : (record.advertisement.term ?? 0) - (best.advertisement.term ?? 0);
    if (best === undefined || byTerm > 0) best = record;
    else if (byTerm === 0 && compareIncarnations(record.incarnation, best.incarnation) < 0) best = record;
  }
  return best;
};
