import { parsePluginName } from '@infrakit/core';
import type { EventMessage, Events } from '@infrakit/spi';
import { concat, defer, distinctUntilChanged, map, of, startWith, switchMap } from 'rxjs';
import { advertisedNames } from '../discovery/plugin-record.ts';
import type { Registry } from '../discovery/registry.ts';

interface Wanted {
  readonly plugin: string;
  readonly filter: string;
}

/** The same events under the name of the object that publishes them. */
const targetOf = ({ active }: Registry, { plugin, filter }: Wanted): Wanted => {
  const record = active(plugin);
  if (record === undefined) return { plugin, filter };
  const [, slash = '', object = '', rest = ''] = /^(\/?)([^/]*)(.*)$/s.exec(filter) ?? [];
  const target = advertisedNames(record.advertisement).get(object)?.proxyFor;
  if (object === '' || target === undefined) return { plugin, filter };
  const { lookup, type = '' } = parsePluginName(target);
  return { plugin: lookup, filter: `${slash}${type}${rest}` };
};

/**
 * Subscribes to the events of a managed object under its manager's name (DESIGN §3): what begins with an object that stands
 * for another comes from that one. When it comes to stand for another, or to stand for one at all, there is a gap.
 */
export const managedEvents =
  (registry: Registry, subscribe: Events['subscribe']): Events['subscribe'] =>
  (plugin, filter) => {
    const own = subscribe(plugin, filter);
    return defer(() => {
      let isFirst = true;
      return registry.changes.pipe(
        startWith(undefined),
        map(() => targetOf(registry, { plugin, filter })),
        distinctUntilChanged((before, now) => before.plugin === now.plugin && before.filter === now.filter),
        switchMap((target) => {
          const isSame = target.plugin === plugin && target.filter === filter;
          const events = isSame ? own : subscribe(target.plugin, target.filter);
          const gap: EventMessage = {
            kind: 'gap',
            plugin: target.plugin,
            reason: 'the events come from another object now',
          };
          const all = isFirst ? events : concat(of(gap), events);
          isFirst = false;
          return all;
        }),
      );
    });
  };
