import { AppError, type Event } from '@infrakit/core';
import {
  type After,
  direct,
  type EventMessage,
  type Events,
  type InterfaceDescription,
  type Plugins,
  type Presence,
  type SpiOf,
} from '@infrakit/spi';
import { BehaviorSubject, filter, type Observable, Subject } from 'rxjs';

interface Served {
  readonly description: InterfaceDescription;
  readonly implementation: unknown;
}

/** A Plugins port in memory: names are served, go away and come back; calls go through `direct`, as in one process. */
export const memoryPlugins = (after: After) => {
  const served = new Map<string, Served>();
  const presences = new Map<string, BehaviorSubject<Presence>>();
  let incarnations = 0;

  const presenceOf = (name: string): BehaviorSubject<Presence> => {
    const known = presences.get(name) ?? new BehaviorSubject<Presence>({ kind: 'offline', reason: 'never seen' });
    presences.set(name, known);
    return known;
  };
  const call = (name: string, method: string, args: readonly unknown[]): Promise<unknown> => {
    const target = served.get(name);
    if (target === undefined) {
      return Promise.reject(new AppError('PLUGIN_UNKNOWN', `nothing answers to ${name}`, { facts: { name } }));
    }
    const implementation = target.implementation as SpiOf<InterfaceDescription>;
    const handle = direct(target.description, implementation, { after }) as Record<
      string,
      (...args: readonly unknown[]) => Promise<unknown>
    >;
    const run = handle[method];
    if (run === undefined) return Promise.reject(new AppError('METHOD_UNKNOWN', `${name} has no ${method}`));
    return run(...args);
  };
  const plugins: Plugins = {
    resolve: <I extends InterfaceDescription>(description: I, name: string): SpiOf<I> =>
      Object.fromEntries(
        Object.keys(description.methods).map((method) => [
          method,
          (...args: readonly unknown[]) => call(name, method, args),
        ]),
      ) as SpiOf<I>,
    watch: (name) => presenceOf(name).asObservable(),
  };
  return {
    plugins,
    /** Serves a name from now on, as a new incarnation; `plugin` is the one whose events tell of it. */
    serve: <I extends InterfaceDescription>(
      name: string,
      description: I,
      implementation: SpiOf<I>,
      plugin: string,
    ): void => {
      served.set(name, { description, implementation });
      incarnations += 1;
      const interfaces = [description.name];
      presenceOf(name).next({ kind: 'online', plugin, incarnation: `p.${incarnations}`, interfaces });
    },
    withdraw: (name: string): void => {
      served.delete(name);
      presenceOf(name).next({ kind: 'offline', reason: 'stopped' });
    },
  };
};

/** An Events port in memory: what the controller publishes is kept, and a test says what others publish. */
export const memoryEvents = () => {
  const published: Event[] = [];
  const bus = new Subject<EventMessage & { readonly topic: string }>();
  const events: Events = {
    publish: (event) => {
      published.push(event);
    },
    // The old forms alone: `.` is everything, a trailing slash what is below.
    subscribe: (plugin, topics): Observable<EventMessage> =>
      bus.pipe(filter((message) => message.plugin === plugin && (topics === '.' || message.topic.startsWith(topics)))),
  };
  return {
    events,
    published,
    emit: (plugin: string, topic: string): void => {
      const event: Event = { Topic: topic, ID: '', Message: '', Timestamp: '2026-01-01T00:00:00Z' };
      bus.next({ kind: 'event', plugin, event, topic });
    },
  };
};
