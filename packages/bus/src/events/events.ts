import {
  type Event,
  type EventSequence,
  eventSubscription,
  PublishedEvent,
  type Topics,
  toAppError,
} from '@infrakit/core';
import type { EventMessage, Events, Log } from '@infrakit/spi';
import { Observable, type Subscriber } from 'rxjs';
import type { Connection, Message } from '../connection/connection.ts';
import { decodeFrame } from '../rpc/rpc-frame.ts';
import type { BadMessages } from './bad-messages.ts';
import { eventNumbers, gapFinder } from './event-sequence.ts';

export interface EventSubscriberOptions {
  readonly connection: Connection;
  readonly topics: Topics;
  /** Where messages that make no sense are counted. */
  readonly bad: BadMessages;
}

export interface EventPublisherOptions {
  readonly connection: Connection;
  readonly topics: Topics;
  /** Whose events they are; their numbers begin anew with each incarnation. */
  readonly plugin: string;
  readonly incarnation: string;
  /** 0 for timers: a tick that is lost is followed by the next (DESIGN §3). */
  readonly qos: 0 | 1;
  readonly nowMs: () => number;
  readonly log: Log;
}

/** Publishes events of one plugin. */
export interface EventPublisher {
  readonly publish: Events['publish'];
  readonly isHeard: (topic: string) => boolean;
  /** How many were dropped instead. */
  readonly dropped: () => number;
}

/** Events on their way at once. */
const inFlight = 100;
/** Bytes of those that wait for that: several times what a group of 10,000 tells of when all of them join at once. */
const maxQueuedBytes = 32 * 2 ** 20;
const quietMs = 60_000;

/** An event that arrived, or why it is none. */
const eventOf = (topics: Topics, { topic, payload }: Message): PublishedEvent | string => {
  const read = PublishedEvent.safeParse(decodeFrame(payload));
  if (!read.success) return `no event: ${read.error.issues[0]?.message}`;
  const parsed = topics.parse(topic);
  try {
    if (parsed?.kind === 'event' && topics.event(parsed.plugin, read.data.Topic) === topic) return read.data;
    return `its Topic ${JSON.stringify(read.data.Topic.slice(0, 100))} is not where it was published`;
  } catch (error) {
    return toAppError(error).message;
  }
};

/** An event as JSON. Data that JSON cannot carry becomes an error that says so: the sender goes on (EI-V4). */
const encoded = (event: Event, sequence: EventSequence): string => {
  try {
    return JSON.stringify({ ...event, ...sequence });
  } catch (thrown) {
    const { Data: _, ...rest } = event;
    return JSON.stringify({ ...rest, Error: `its data is no JSON: ${toAppError(thrown).message}`, ...sequence });
  }
};

/** `publish` of the `Events` port. Without a connection events are dropped: their numbers tell those who listen. */
export const eventPublisher = (options: EventPublisherOptions): EventPublisher => {
  const { connection, topics, plugin: own, incarnation, qos, nowMs, log } = options;
  const number = eventNumbers(incarnation);
  let queue: { readonly topic: string; readonly payload: string }[] = [];
  let [head, queuedBytes, underWay, dropped] = [0, 0, 0, 0];
  let warnedMs = Number.NEGATIVE_INFINITY;

  const drop = (reason: string, count = 1): void => {
    dropped += count;
    if (nowMs() - warnedMs < quietMs) return;
    warnedMs = nowMs();
    log.warn({ plugin: own, reason, total: dropped }, 'events dropped');
  };

  /** Takes the oldest out of the queue. */
  const take = (count: number): void => {
    for (const { payload } of queue.slice(head, head + count)) queuedBytes -= payload.length;
    head += count;
    if (head * 2 < queue.length) return;
    queue = queue.slice(head);
    head = 0;
  };

  /** Half of them in one piece, so that whoever listens is told of one gap and not of many. */
  const dropOldest = (): void => {
    const count = Math.ceil((queue.length - head) / 2);
    take(count);
    drop('too many wait to be published', count);
  };

  const work = (): void => {
    while (underWay < inFlight) {
      const next = queue[head];
      if (next === undefined) return;
      take(1);
      underWay += 1;
      connection
        .publish(next.topic, next.payload, { qos })
        .catch((error: unknown) => drop(toAppError(error).message))
        .finally(() => {
          underWay -= 1;
          work();
        });
    }
  };

  const publish = (event: Event): void => {
    const topic = topics.event(own, event.Topic);
    const payload = encoded(event, number(topic));
    queue.push({ topic, payload });
    queuedBytes += payload.length;
    if (queuedBytes > maxQueuedBytes) dropOldest();
    work();
  };

  return {
    publish,
    isHeard: (topic) => connection.isHeard?.(topics.event(own, topic)) ?? true,
    dropped: () => dropped,
  };
};

/** `subscribe` of the `Events` port. Each subscription finds gaps for itself. Errors, when called: `FILTER_INVALID`. */
export const eventSubscriber = ({ connection, topics, bad }: EventSubscriberOptions): Events['subscribe'] => {
  const receiver = (plugin: string, matches: (path: string) => boolean, to: Subscriber<EventMessage>) => {
    const see = gapFinder();
    return (message: Message): void => {
      const read = eventOf(topics, message);
      if (typeof read === 'string') {
        bad.note(message.topic, read);
        to.next({ kind: 'bad', plugin, topic: message.topic, reason: read });
        return;
      }
      const { Nonce, Seq, ...event } = read;
      if (!matches(event.Topic)) return;
      const seen = see(message.topic, { ...(Nonce && { Nonce }), ...(Seq && { Seq }) });
      if (seen.kind === 'seen') return;
      if (seen.kind === 'gap') to.next({ kind: 'gap', plugin, reason: seen.reason });
      to.next({ kind: 'event', plugin, event: event as Event });
    };
  };

  return (plugin, text) => {
    const { filter, matches } = eventSubscription(topics, plugin, text);
    return new Observable((to) => {
      let isFirst = true;
      const subscription = connection.subscribe(filter, 1, receiver(plugin, matches, to));
      const status = connection.status.subscribe({
        next: ({ kind }) => {
          if (kind === 'connected' && !isFirst) to.next({ kind: 'gap', plugin, reason: 'connected anew' });
          isFirst = false;
        },
        complete: () => to.complete(),
      });
      return () => {
        status.unsubscribe();
        subscription.close();
      };
    });
  };
};
