import { type AppError, filterIndex } from '@infrakit/core';
import type { Log } from '@infrakit/spi';
import type { Message, TopicSubscription } from './connection.ts';
import type { FilterRequest, Link } from './link.ts';
import { higherQos } from './qos.ts';

interface Entry extends FilterRequest {
  readonly handler: (message: Message) => void;
  readonly waiters: Set<{ readonly resolve: () => void; readonly reject: (error: AppError) => void }>;
  /** What the broker said in the present session. */
  answer: 'none' | 'acknowledged' | AppError;
  isOpen: boolean;
}

/** The subscriptions that should be, and the link that is told of them. */
export interface OpenSubscriptions {
  readonly open: (
    request: FilterRequest,
    handler: (message: Message) => void,
  ) => {
    /** Whether the broker has acknowledged it in the present session. */
    readonly isAcknowledged: () => boolean;
    readonly answered: (signal: AbortSignal) => Promise<void>;
    readonly close: TopicSubscription['close'];
  };
  /** A new session: everything that is open is asked for again. */
  readonly attach: (link: Link) => void;
  readonly detach: () => void;
  readonly deliver: (message: Message) => void;
  /** The end: whoever waits for an answer gets the error. */
  readonly closeAll: (error: AppError) => void;
}

/** Filters in one SUBSCRIBE packet: few packets after a reconnect, none too large for a broker. */
const batchSize = 200;

const chunksOf = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, n) => items.slice(n * size, (n + 1) * size));

/** No subscriptions yet. A handler that throws is reported to the log and disturbs no other. */
export const openSubscriptions = ({ log }: { readonly log: Log }): OpenSubscriptions => {
  const index = filterIndex<Entry>();
  const byFilter = new Map<string, Set<Entry>>();
  // A broker may do two requests at once (aedes does): an unsubscribe could end a subscription that was asked for after it.
  const busy = new Map<string, Promise<void>>();
  let current: Link | undefined;

  const settle = (entry: Entry, error: AppError | undefined): void => {
    entry.answer = error ?? 'acknowledged';
    if (error !== undefined) log.warn({ filter: entry.filter, code: error.code }, 'subscription refused');
    for (const { resolve, reject } of entry.waiters) error === undefined ? resolve() : reject(error);
    entry.waiters.clear();
  };

  /** Asks for filters at once; those whose subscriptions have all been answered, or closed, need no asking. */
  const request = async (link: Link, filters: readonly string[]): Promise<void> => {
    const asked = filters.flatMap((filter) => {
      const all = [...(byFilter.get(filter) ?? [])];
      const entries = all.filter(({ answer }) => answer === 'none');
      return entries.length === 0 ? [] : [{ filter, entries, qos: all.map(({ qos }) => qos).reduce(higherQos) }];
    });
    if (link !== current || asked.length === 0) return;
    const answers = await link.subscribe(asked.map(({ filter, qos }) => ({ filter, qos })));
    if (link !== current) return;
    for (const [n, { entries }] of asked.entries()) for (const entry of entries) settle(entry, answers[n]);
  };

  const release = async (link: Link, filter: string): Promise<void> => {
    if (link === current && !byFilter.has(filter)) await link.unsubscribe(filter);
  };

  /** Asks about filters when the broker has answered what it was asked about them before. */
  const inTurn = (filters: readonly string[], ask: () => Promise<void>): void => {
    const before = filters.flatMap((filter) => busy.get(filter) ?? []);
    const turn = (before.length === 0 ? ask() : Promise.all(before).then(ask))
      .catch((error: unknown) => log.debug({ err: error }, 'subscriptions ended with their session'))
      .finally(() => {
        for (const filter of filters) if (busy.get(filter) === turn) busy.delete(filter);
      });
    for (const filter of filters) busy.set(filter, turn);
  };

  return {
    open: ({ filter, qos }, handler) => {
      const entry: Entry = { filter, qos, handler, waiters: new Set(), answer: 'none', isOpen: true };
      const remove = index.add(filter, entry);
      byFilter.set(filter, (byFilter.get(filter) ?? new Set()).add(entry));
      // Asked for again although others have it: this handler wants the retained messages too.
      const link = current;
      if (link !== undefined) inTurn([filter], () => request(link, [filter]));
      return {
        isAcknowledged: () => entry.answer === 'acknowledged',
        answered: (signal) =>
          new Promise((resolve, reject) => {
            if (entry.answer === 'acknowledged') return resolve();
            if (entry.answer !== 'none') return reject(entry.answer);
            const waiter = { resolve, reject };
            entry.waiters.add(waiter);
            signal.addEventListener('abort', () => entry.waiters.delete(waiter), { once: true });
          }),
        close: () => {
          if (!entry.isOpen) return;
          entry.isOpen = false;
          remove();
          const others = byFilter.get(filter);
          others?.delete(entry);
          if (others?.size !== 0) return;
          byFilter.delete(filter);
          const present = current;
          if (present !== undefined) inTurn([filter], () => release(present, filter));
        },
      };
    },
    attach: (link) => {
      current = link;
      for (const filters of chunksOf([...byFilter.keys()], batchSize)) inTurn(filters, () => request(link, filters));
    },
    detach: () => {
      current = undefined;
      busy.clear();
      for (const entries of byFilter.values()) for (const entry of entries) entry.answer = 'none';
    },
    deliver: (message) => {
      for (const entry of index.match(message.topic)) {
        if (!entry.isOpen) continue;
        try {
          entry.handler(message);
        } catch (error) {
          log.error({ err: error, topic: message.topic, filter: entry.filter }, 'message handler failed');
        }
      }
    },
    closeAll: (error) => {
      current = undefined;
      for (const entries of byFilter.values()) {
        for (const entry of entries) {
          entry.answer = error;
          for (const { reject } of entry.waiters) reject(error);
          entry.waiters.clear();
        }
      }
    },
  };
};
