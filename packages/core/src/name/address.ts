import { AppError } from '../errors.ts';
import { formatPluginName, type PluginName, parsePluginName } from './plugin-name.ts';

/** Where a spec goes: `endpoint` is the plugin name to look up, `instance` the object's own name there. */
export interface Address {
  readonly kind: string;
  readonly endpoint: PluginName;
  readonly instance: string;
}

const requireName = (name: string): void => {
  if (name === '') throw new AppError('NAME_INVALID', 'a name must not be empty');
};

/**
 * The address of (kind, plugin name, instance), GP §0.2. Without a slash in the name the lookup is the kind. `x/` addresses
 * the plugin `x`, with the instance, if any, as its object. The type of a `kind/type` is the type of the endpoint.
 * Everything after the first slash of a name is its second part, as for plugin names. Errors: `NAME_INVALID` for an empty name.
 */
export const addressFrom = (kind: string, name: PluginName, instance = ''): Address => {
  requireName(name);
  const { lookup: kindLookup, type: kindType } = parsePluginName(kind);
  const { lookup, type } = parsePluginName(name);
  const derived = instance || (type ?? lookup);
  if (type === undefined) {
    return {
      kind: kindLookup,
      endpoint: formatPluginName({ lookup: kindLookup, type: kindType || lookup }),
      instance: derived,
    };
  }
  const object = kindType || type || instance;
  return {
    kind: kindLookup,
    endpoint: object === '' ? lookup : formatPluginName({ lookup, type: object }),
    instance: derived,
  };
};

/** The address of a spec's envelope; an explicit `metadata.id` overrides the derived instance (GP §0.2). */
export const addressOf = (spec: {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly id?: string | undefined };
}): Address => addressFrom(spec.kind, spec.metadata.name, spec.metadata.id);

/** The address that a bare plugin name means: its lookup is the kind; `swarm` alone is the plugin itself (GP §0.2). */
export const addressOfName = (name: PluginName): Address => {
  requireName(name);
  const { lookup, type = '' } = parsePluginName(name);
  return addressFrom(lookup, formatPluginName({ lookup, type }));
};

/**
 * Which of a plugin's objects a request name means, EI §2.4 [WANT]: no type, the plugin itself (`''`); else the object of
 * exactly that name; else the type without its first component. The lookup is never compared with object names
 * (EI-C8, GP-S2). Errors: `OBJECT_UNKNOWN`.
 */
export const resolveObject = (name: PluginName, objects: { has(object: string): boolean }): string => {
  const { type = '' } = parsePluginName(name);
  const shorter = type.slice(type.indexOf('/') + 1);
  const found = [type, ...(shorter === '' ? [] : [shorter])].find((candidate) => objects.has(candidate));
  if (found === undefined) {
    throw new AppError('OBJECT_UNKNOWN', `not found: ${name} (key=${type})`, { facts: { name, key: type } });
  }
  return found;
};

/**
 * The name under which a controller with this lookup stores a spec: `builders` and `nfs/builders` both become `builders` at
 * `nfs` (EI §2.4 [WANT]). Errors: `NAME_INVALID` for an empty name or one that belongs to another lookup.
 */
export const objectName = (lookup: string, metadataName: string): string => {
  requireName(metadataName);
  const { lookup: first, type } = parsePluginName(metadataName);
  if (type === undefined) return first;
  requireName(type);
  if (first !== lookup) {
    throw new AppError('NAME_INVALID', `${metadataName} belongs to ${first}, not to ${lookup}`, {
      facts: { lookup, name: metadataName },
    });
  }
  return type;
};
