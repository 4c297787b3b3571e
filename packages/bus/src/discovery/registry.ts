import { compareUtf8, type ParsedTopic, PluginAdvertisement, ProcessPresence, type Topics } from '@infrakit/core';
import { type After, type Log, type Presence, withDeadline } from '@infrakit/spi';
import { distinctUntilChanged, map, type Observable, Subject, startWith } from 'rxjs';
import type { Connection, Message } from '../connection/connection.ts';
import { badMessages } from '../events/bad-messages.ts';
import { readRetained } from '../retained/retained-read.ts';
import { decodeFrame } from '../rpc/rpc-frame.ts';
import { activeOf, compareIncarnations, type PluginRecord } from './plugin-record.ts';
import { presenceOf } from './plugin-route.ts';
import { proxyTable } from './proxy-table.ts';

export interface RegistryOptions {
  readonly connection: Connection;
  readonly topics: Topics;
  readonly after: After;
  readonly nowMs: () => number;
  readonly log: Log;
}

/** A live view of the processes and plugins on the bus. While the bus is away it shows what was last known. */
export interface Registry {
  /** Every incarnation, also those whose process is gone, by plugin and incarnation. */
  readonly list: () => readonly PluginRecord[];
  readonly processes: () => ReadonlyMap<string, ProcessPresence>;
  readonly incarnations: (plugin: string) => readonly PluginRecord[];
  /** Who answers to a plugin's name. */
  readonly active: (plugin: string) => PluginRecord | undefined;
  /** The names of all plugins that answer. */
  readonly plugins: () => readonly string[];
  /** The name of the proxy that alone may change an object, if it has one. */
  readonly proxyOf: (name: string) => string | undefined;
  /** Something is another than before. */
  readonly changes: Observable<void>;
  readonly watch: (name: string) => Observable<Presence>;
  /** Whether everything on the bus was seen once. */
  readonly isReady: () => boolean;
  /** Resolves when it is ready. Errors: `RPC_TIMEOUT`, `RPC_CANCELLED`. */
  readonly ready: (timeoutMs: number, signal?: AbortSignal) => Promise<void>;
  /** Adds what this process says itself, which is true before the bus has it; `undefined` takes it back. */
  readonly own: (plugin: string, incarnation: string, advertisement: PluginAdvertisement | undefined) => void;
  readonly badCount: () => number;
  readonly close: () => void;
}

export interface OwnProcess {
  readonly nonce: string;
  readonly presence: () => ProcessPresence;
}

/** Something read from a topic, and the round in which it was last seen. */
interface Seen<T> {
  readonly value: T;
  round: number;
}

type Found = { readonly plugin: string; readonly incarnation: string; readonly advertisement: PluginAdvertisement };

/**
 * Reads discovery (DESIGN §3). `process` is this process, if it is on the bus itself: what it says it need not hear from the
 * broker.
 */
export const pluginRegistry = (options: RegistryOptions, process?: OwnProcess): Registry => {
  const { connection, topics, after, nowMs, log } = options;
  const processes = new Map<string, Seen<ProcessPresence>>();
  const found = new Map<string, Seen<Found>>();
  const own = new Map<string, Found>();
  const byPlugin = new Map<string, Map<string, Found>>();
  const bad = badMessages({ log, nowMs });
  const changed = new Subject<void>();
  const waiting = new Set<() => void>();
  let [round, isReady, isTold] = [0, false, true];

  const recordOf = ({ plugin, incarnation, advertisement }: Found): PluginRecord => ({
    plugin,
    incarnation,
    advertisement,
    process:
      process !== undefined && advertisement.process === process.nonce
        ? process.presence()
        : processes.get(advertisement.process)?.value,
  });
  const incarnations = (plugin: string): PluginRecord[] => [...(byPlugin.get(plugin)?.values() ?? [])].map(recordOf);
  const list = (): PluginRecord[] =>
    [...byPlugin.keys()]
      .sort(compareUtf8)
      .flatMap((plugin) =>
        incarnations(plugin).sort((left, right) => compareIncarnations(left.incarnation, right.incarnation)),
      );
  const active = (plugin: string): PluginRecord | undefined => activeOf(incarnations(plugin));
  const actives = (): PluginRecord[] => [...byPlugin.keys()].flatMap((plugin) => active(plugin) ?? []);
  const proxies = proxyTable(actives);

  /** Tells of several changes at once as one. */
  const tell = (): void => {
    proxies.forget();
    if (!isTold) return;
    isTold = false;
    queueMicrotask(() => {
      isTold = true;
      changed.next();
    });
  };

  const file = (topic: string, { plugin, incarnation }: Pick<Found, 'plugin' | 'incarnation'>): void => {
    const record = own.get(topic) ?? found.get(topic)?.value;
    const records = byPlugin.get(plugin) ?? new Map<string, Found>();
    if (record === undefined) records.delete(incarnation);
    else records.set(incarnation, record);
    if (records.size === 0) byPlugin.delete(plugin);
    else byPlugin.set(plugin, records);
    tell();
  };

  const forget = (topic: string, parsed: ParsedTopic): void => {
    if (parsed.kind === 'process' && processes.delete(parsed.nonce)) tell();
    if (parsed.kind === 'plugin' && found.delete(topic)) file(topic, parsed);
  };

  /** What a message makes known; nothing where it makes no sense. */
  const learn = (topic: string, parsed: ParsedTopic, payload: Uint8Array): boolean => {
    const value = decodeFrame(payload);
    if (parsed.kind === 'process') {
      const read = ProcessPresence.safeParse(value);
      if (read.success) processes.set(parsed.nonce, { value: read.data, round });
      tell();
      return read.success;
    }
    if (parsed.kind !== 'plugin') return false;
    const { plugin, incarnation } = parsed;
    const read = PluginAdvertisement.safeParse(value);
    if (read.success) found.set(topic, { value: { plugin, incarnation, advertisement: read.data }, round });
    file(topic, parsed);
    return read.success;
  };

  const receive = ({ topic, payload }: Message): void => {
    const parsed = topics.parse(topic);
    if (parsed !== undefined && payload.length > 0 && learn(topic, parsed, payload)) return;
    if (parsed !== undefined) forget(topic, parsed);
    if (payload.length > 0) bad.note(topic, 'no process and no plugin');
  };

  const reader = readRetained(
    { connection, topics, filters: [topics.filters.processes, topics.filters.plugins()], qos: 1, after, log },
    {
      begin: () => {
        round += 1;
      },
      message: receive,
      end: () => {
        for (const [nonce, seen] of processes)
          if (seen.round < round) forget(topics.process(nonce), { kind: 'process', nonce });
        for (const [topic, seen] of found) if (seen.round < round) forget(topic, { kind: 'plugin', ...seen.value });
        isReady = true;
        for (const done of waiting) done();
        waiting.clear();
        tell();
      },
    },
  );

  const registry: Registry = {
    list,
    processes: () => new Map([...processes].map(([nonce, { value }]) => [nonce, value])),
    incarnations,
    active,
    plugins: () => actives().map(({ plugin }) => plugin),
    proxyOf: proxies.find,
    changes: changed.asObservable(),
    watch: (name) =>
      changed.pipe(
        startWith(undefined),
        map(() => presenceOf(registry, name)),
        distinctUntilChanged((before, now) => JSON.stringify(before) === JSON.stringify(now)),
      ),
    isReady: () => isReady,
    ready: (timeoutMs, signal) =>
      withDeadline(
        (over) =>
          new Promise<void>((resolve) => {
            if (isReady) return resolve();
            waiting.add(resolve);
            over.addEventListener('abort', () => waiting.delete(resolve), { once: true });
          }),
        { after, what: 'finding the plugins on the bus', timeoutMs, ...(signal === undefined ? {} : { signal }) },
      ),
    own: (plugin, incarnation, advertisement) => {
      const topic = topics.plugin(plugin, incarnation);
      if (advertisement === undefined) {
        own.delete(topic);
        found.delete(topic);
      } else own.set(topic, { plugin, incarnation, advertisement });
      file(topic, { plugin, incarnation });
    },
    badCount: bad.count,
    close: () => {
      reader.close();
      changed.complete();
      for (const done of waiting) done();
    },
  };
  return registry;
};
