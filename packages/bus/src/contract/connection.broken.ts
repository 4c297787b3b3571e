import { realAfter } from '@infrakit/spi';
import { filter, firstValueFrom, map } from 'rxjs';
import type { Connection } from '../connection/connection.ts';
import type { ConnectionSubject } from './connection-scene.ts';
import { memorySubject } from './memory-subject.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** A connection with one thing wrong, and the name of the case that must find it. */
interface BrokenConnection {
  readonly what: string;
  readonly failing: string;
  readonly make: () => ConnectionSubject;
}

const broken = (what: string, failing: string, wrap: (connection: Connection) => Connection): BrokenConnection => ({
  what,
  failing,
  make: () => memorySubject({ after: realAfter, log: silent }, wrap),
});

/** One broken thing each, and the case that must notice. */
export const brokenConnections: readonly BrokenConnection[] = [
  broken(
    'loses what it says it sent',
    'a publish at QoS 1 that succeeded reaches every subscriber, with its own QoS',
    (own) => ({
      ...own,
      publish: async () => {},
    }),
  ),
  broken('sends text only', 'a payload arrives byte by byte, text as UTF-8', (own) => ({
    ...own,
    publish: (topic, payload, how) => own.publish(topic, Buffer.from(payload).toString(), how),
  })),
  broken(
    'sends what nobody waits for in any order',
    'messages on one topic keep their order, also when nobody waits between them',
    (own) => ({
      ...own,
      publish: async (topic, payload, how) => {
        if (String(payload).endsWith('3')) await new Promise(setImmediate);
        await own.publish(topic, payload, how);
      },
    }),
  ),
  broken('retains nothing', 'a retained message is replayed to whoever subscribes later, and marked', (own) => ({
    ...own,
    publish: (topic, payload, how) => own.publish(topic, payload, { ...how, retain: false }),
  })),
  broken('never clears', 'an empty retained message clears the topic and is delivered live', (own) => ({
    ...own,
    publish: (topic, payload, how) =>
      own.publish(topic, payload, { ...how, retain: how.retain === true && payload !== '' }),
  })),
  broken(
    'asks a broker for a filter only once',
    'each subscription is given what is retained, also the second one on a filter',
    (own) => {
      const asked = new Set<string>();
      return {
        ...own,
        subscribe: (pattern, qos, handler) => {
          const isFirst = !asked.has(pattern);
          asked.add(pattern);
          return own.subscribe(pattern, qos, (message) => (isFirst || !message.retain ? handler(message) : undefined));
        },
      };
    },
  ),
  broken('shows hidden topics', 'topics that begin with $ are hidden from leading wildcards', (own) => ({
    ...own,
    subscribe: (pattern, qos, handler) => {
      if (pattern === '#') own.subscribe('$hidden/#', qos, handler);
      return own.subscribe(pattern, qos, handler);
    },
  })),
  broken(
    'calls handlers twice',
    'a handler is called once a message for each open subscription, and never after close',
    (own) => ({
      ...own,
      subscribe: (pattern, qos, handler) =>
        own.subscribe(pattern, qos, (message) => {
          handler(message);
          handler(message);
        }),
    }),
  ),
  broken(
    'goes on after a subscription is closed',
    'a handler is called once a message for each open subscription, and never after close',
    (own) => ({
      ...own,
      subscribe: (...args) => ({ ...own.subscribe(...args), close: () => {} }),
    }),
  ),
  broken(
    'counts no sessions',
    'the present status comes first, then each change, and completion at the end',
    (own) => ({
      ...own,
      status: own.status.pipe(map((status) => (status.kind === 'connected' ? { ...status, session: 1 } : status))),
    }),
  ),
  broken(
    'forgets its subscriptions with the session',
    'after a restart of the broker every open subscription delivers again',
    (own) => ({
      ...own,
      subscribe: (...args) => {
        const subscription = own.subscribe(...args);
        own.status.pipe(filter(({ kind }) => kind === 'disconnected')).subscribe(subscription.close);
        return { ...subscription, ready: async () => {} };
      },
    }),
  ),
  broken(
    'queues while it is offline',
    'a publish without a connection is refused at once, and is not sent later',
    (own) => ({
      ...own,
      publish: async (...args) => {
        await firstValueFrom(own.status.pipe(filter(({ kind }) => kind === 'connected')));
        await own.publish(...args);
      },
    }),
  ),
  broken('knows no deadline', 'a broker that does nothing: publish and ready fail by their deadline', (own) => ({
    ...own,
    publish: (topic, payload, how) => own.publish(topic, payload, { ...how, timeoutMs: 60_000 }),
  })),
  broken(
    'is ready before the broker is',
    'a broker that does nothing: publish and ready fail by their deadline',
    (own) => ({
      ...own,
      subscribe: (...args) => ({ ...own.subscribe(...args), ready: async () => {} }),
    }),
  ),
  broken('does not hear that its caller gave up', 'a publish ends when its caller gives up', (own) => ({
    ...own,
    publish: (topic, payload, { signal, ...how }) => own.publish(topic, payload, how),
  })),
  broken('says goodbye when it crashes', 'a severed client is gone: the will clears its topic', (own) => ({
    ...own,
    sever: () => void own.close(),
  })),
  broken('crashes when it is closed', 'a closed client leaves its topics alone, and ends', (own) => ({
    ...own,
    close: async () => own.sever(),
  })),
];
