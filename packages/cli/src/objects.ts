import type { Registry } from '@infrakit/bus';
import { AppError, compareUtf8, suggest } from '@infrakit/core';

/** An object that somebody answers for: what `infrakit local` lists and its verbs are about. */
export interface BusObject {
  /** What a person types: `mystack/cattle`. */
  readonly name: string;
  readonly plugin: string;
  readonly object: string;
  /** Interface name to version. */
  readonly interfaces: ReadonlyMap<string, string>;
  /** What it stands for: `group/cattle`. */
  readonly proxyFor: string | undefined;
}

/** The interface by which processes are stopped: `infrakit plugin` speaks it, nobody else. */
const controlInterface = 'Process';

/** All objects that are answered for, sorted by name. */
export const objectsOf = (registry: Registry): BusObject[] => {
  const found = new Map<
    string,
    { plugin: string; object: string; interfaces: Map<string, string>; proxyFor: string | undefined }
  >();
  for (const plugin of registry.plugins()) {
    const record = registry.active(plugin);
    for (const { name: interfaceName, version, objects } of record?.advertisement.interfaces ?? []) {
      if (interfaceName === controlInterface) continue;
      for (const { name: object, proxyFor } of objects) {
        const name = object === '' ? plugin : `${plugin}/${object}`;
        const entry = found.get(name) ?? { plugin, object, interfaces: new Map<string, string>(), proxyFor };
        entry.interfaces.set(interfaceName, version);
        found.set(name, entry);
      }
    }
  }
  return [...found]
    .map(([name, entry]) => ({ name, ...entry }))
    .sort((left, right) => compareUtf8(left.name, right.name));
};

/** The object of a name; `OBJECT_UNKNOWN` (exit 127) with the nearest known one. */
export const findObject = (objects: readonly BusObject[], name: string): BusObject => {
  const found = objects.find((object) => object.name === name);
  if (found !== undefined) return found;
  const near = suggest(
    name,
    objects.map((object) => object.name),
  );
  const hint = near === undefined ? '`infrakit local` lists what there is' : `did you mean ${near}?`;
  throw new AppError('OBJECT_UNKNOWN', `no object is called ${name}; ${hint}`, { facts: { name, near } });
};

/**
 * The one rule or group that an object is about; null for an object that is about all of them, whose verbs take a name
 * (GP-C8).
 */
export const scopeOf = ({ name, object, proxyFor }: BusObject): string | null => {
  const target = proxyFor ?? name;
  const slash = target.indexOf('/');
  return slash < 0 || object === 'groups' ? null : target.slice(slash + 1);
};
