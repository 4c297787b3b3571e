import { AppError, parsePluginName, suggest, toAppError } from '@infrakit/core';
import { type InterfaceDescription, type MethodDescription, type Presence, wireName } from '@infrakit/spi';
import { type AdvertisedName, advertisedNames, fullName, type PluginRecord } from './plugin-record.ts';

/** What a route is found in. */
export interface RouteView {
  readonly active: (plugin: string) => PluginRecord | undefined;
  readonly incarnations: (plugin: string) => readonly PluginRecord[];
  readonly plugins: () => readonly string[];
  readonly proxyOf: (name: string) => string | undefined;
  readonly isReady: () => boolean;
}

/** A call of one method, by somebody. */
export interface RouteQuery {
  readonly name: string;
  readonly description: InterfaceDescription;
  readonly methodName: string;
  readonly method: MethodDescription;
  /** The plugin that calls: a manager changes the objects it stands for directly. */
  readonly caller?: string | undefined;
}

/** Where a call goes; `via` names the proxy that a mutation of a managed object comes through. */
export interface Route {
  readonly plugin: string;
  readonly object: string;
  readonly incarnation: string;
  readonly via?: string;
}

interface Found {
  readonly plugin: string;
  readonly object: string;
  readonly record: PluginRecord;
  readonly offered: AdvertisedName;
}

const majorOf = (version: string): string => version.split('.', 1)[0] ?? '';

const partsOf = (name: string): { readonly plugin: string; readonly object: string } => {
  const { lookup, type = '' } = parsePluginName(name);
  return { plugin: lookup, object: type };
};

const didYouMean = (near: string | undefined): string => (near === undefined ? '' : `; did you mean ${near}?`);

const pluginMissing = (view: RouteView, plugin: string): AppError => {
  const others = view.incarnations(plugin);
  if (others.some(({ process }) => process !== undefined)) {
    return new AppError('LEADER_NOT', `no ${plugin} leads at the moment: there are only standbys`, {
      facts: { plugin },
    });
  }
  if (others.length > 0) {
    return new AppError('PLUGIN_UNAVAILABLE', `${plugin} is advertised, but its process is gone`, {
      facts: { plugin },
    });
  }
  const near = suggest(plugin, view.plugins());
  return new AppError('PLUGIN_UNKNOWN', `no plugin answers to ${plugin}${didYouMean(near)}`, {
    facts: { plugin, near },
  });
};

const objectMissing = (plugin: string, object: string, known: Iterable<string>): AppError => {
  const near = suggest(object, known);
  const hint = didYouMean(near === undefined ? undefined : fullName(plugin, near));
  return new AppError('OBJECT_UNKNOWN', `${plugin} has no object ${JSON.stringify(object)}${hint}`, {
    facts: { plugin, object, near },
  });
};

const find = (view: RouteView, name: string): Found => {
  const { plugin, object } = partsOf(name);
  const record = view.active(plugin);
  if (record === undefined) throw pluginMissing(view, plugin);
  const names = advertisedNames(record.advertisement);
  const offered = names.get(object);
  if (offered === undefined) throw objectMissing(plugin, object, names.keys());
  return { plugin, object, record, offered };
};

const checkOffer = ({ plugin, object, offered }: Found, { description, methodName }: RouteQuery): void => {
  const name = fullName(plugin, object);
  const version = offered.interfaces.get(description.name);
  if (version === undefined) {
    const interfaces = [...offered.interfaces.keys()];
    throw new AppError(
      'METHOD_UNKNOWN',
      `${name} has no ${wireName(description, methodName)}: it answers to ${interfaces.join(', ')}`,
      { facts: { name, interface: description.name, interfaces } },
    );
  }
  if (majorOf(version) === majorOf(description.version)) return;
  throw new AppError('INTERFACE_VERSION', `${name} speaks ${description.name} ${version}, not ${description.version}`, {
    facts: { name, interface: description.name, offered: version, wanted: description.version },
  });
};

/**
 * Where a call goes (DESIGN §3): of a name that stands for another, reads to the target and mutations to the name itself;
 * a mutation of a managed object directly is `OBJECT_MANAGED` unless its manager makes it. Errors: `PLUGIN_UNKNOWN`,
 * `PLUGIN_UNAVAILABLE`, `LEADER_NOT`, `OBJECT_UNKNOWN`, `METHOD_UNKNOWN`, `INTERFACE_VERSION`, each naming what there is.
 */
export const routeCall = (view: RouteView, query: RouteQuery): Route => {
  const { method, caller } = query;
  const named = find(view, query.name);
  const target = named.offered.proxyFor;
  const found = target === undefined || method.mutates ? named : find(view, target);
  checkOffer(found, query);
  const { plugin, object, record } = found;
  const route = { plugin, object, incarnation: record.incarnation };
  const name = fullName(plugin, object);
  const proxy = method.mutates ? view.proxyOf(name) : undefined;
  if (proxy === undefined) return route;
  if (caller !== undefined && partsOf(proxy).plugin === caller) return { ...route, via: proxy };
  throw new AppError('OBJECT_MANAGED', `${name} is managed: change it through ${proxy}`, { facts: { name, proxy } });
};

const described = (interfaces: Iterable<readonly [string, string]>): string[] => [
  ...new Set([...interfaces].map(([name, version]) => `${name}/${version}`)),
];

const onlineAs = ({ plugin, incarnation, advertisement }: PluginRecord, interfaces: string[]): Presence => {
  const { term } = advertisement;
  return { kind: 'online', plugin, incarnation, interfaces, ...(term === undefined ? {} : { term }) };
};

const offline = (view: RouteView, reason: string): Presence => ({
  kind: 'offline',
  reason: view.isReady() ? reason : 'the plugins on the bus are not known yet',
});

/**
 * Whether a name is answered to; of a name that stands for another, whether its target is. A plugin is there also when
 * only its objects answer; its interfaces are then those of all of them.
 */
export const presenceOf = (view: RouteView, name: string): Presence => {
  try {
    const { plugin, object } = partsOf(name);
    const record = view.active(plugin);
    const names = record && advertisedNames(record.advertisement);
    if (record && names && object === '' && !names.has('')) {
      return onlineAs(record, described([...names.values()].flatMap(({ interfaces }) => [...interfaces])));
    }
    const named = find(view, name);
    const found = named.offered.proxyFor === undefined ? named : find(view, named.offered.proxyFor);
    return onlineAs(found.record, described(found.offered.interfaces));
  } catch (thrown) {
    return offline(view, toAppError(thrown).message);
  }
};
