import { AppError } from '@infrakit/core';
import { type InterfaceDescription, type MethodDescription, type PluginObject, wireName } from '@infrakit/spi';

/** What a call is for: an object's method, found. */
export interface FoundMethod {
  readonly object: PluginObject;
  readonly methodName: string;
  readonly method: MethodDescription;
}

interface Index {
  readonly interfaces: ReadonlyMap<string, PluginObject>;
  readonly methods: ReadonlyMap<string, FoundMethod>;
}

const majorOf = (version: string): string => version.split('.', 1)[0] ?? '';

/** Whether a caller that knows `wanted` can talk to `offered`: the same major version (DESIGN §5). */
const isCompatible = (wanted: string, { version }: InterfaceDescription): boolean =>
  majorOf(wanted) === majorOf(version);

const indexOf = (objects: readonly PluginObject[]): ReadonlyMap<string, Index> => {
  const byName = new Map<string, { interfaces: Map<string, PluginObject>; methods: Map<string, FoundMethod> }>();
  for (const object of objects) {
    const index = byName.get(object.object) ?? { interfaces: new Map(), methods: new Map() };
    byName.set(object.object, index);
    index.interfaces.set(object.description.name, object);
    for (const [methodName, method] of Object.entries(object.description.methods)) {
      index.methods.set(wireName(object.description, methodName), { object, methodName, method });
    }
  }
  return byName;
};

/** Where a call goes to. Errors: `OBJECT_UNKNOWN`, `METHOD_UNKNOWN`, `INTERFACE_VERSION`, each saying what there is. */
export type FindMethod = (object: string, method: string, version: string) => FoundMethod;

/** Finds methods among the objects of a plugin; they are indexed anew only when `objects()` gives another list. */
export const methodFinder = (plugin: string, objects: () => readonly PluginObject[]): FindMethod => {
  let known: readonly PluginObject[] | undefined;
  let index: ReadonlyMap<string, Index> = new Map();
  return (object, method, version) => {
    const present = objects();
    if (present !== known) {
      index = indexOf(present);
      known = present;
    }
    const name = object === '' ? plugin : `${plugin}/${object}`;
    const offered = index.get(object);
    if (offered === undefined) {
      throw new AppError('OBJECT_UNKNOWN', `${plugin} has no object ${JSON.stringify(object)}`, { facts: { object } });
    }
    const [interfaceName = ''] = method.split('.', 1);
    const description = offered.interfaces.get(interfaceName)?.description;
    if (description !== undefined && !isCompatible(version, description)) {
      throw new AppError(
        'INTERFACE_VERSION',
        `${name} speaks ${interfaceName} ${description.version}, not ${version}`,
        {
          facts: { interface: interfaceName, offered: description.version, wanted: version },
        },
      );
    }
    const found = offered.methods.get(method);
    if (found !== undefined) return found;
    throw new AppError('METHOD_UNKNOWN', `${name} has no method ${method}`, {
      facts: { method, interfaces: [...offered.interfaces.keys()] },
    });
  };
};
