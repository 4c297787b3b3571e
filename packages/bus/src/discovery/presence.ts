import type { ProcessPresence, Topics } from '@infrakit/core';
import type { After, Log } from '@infrakit/spi';
import type { Connection, Will } from '../connection/connection.ts';
import { retainedSubtree } from '../retained/retained-subtree.ts';

/** What the broker does when a process ends without a word: its topic is cleared, so that it is offline (DESIGN §3). */
export const processWill = (topics: Topics, nonce: string): Will => ({
  topic: topics.process(nonce),
  payload: '',
  qos: 1,
  retain: true,
});

export interface PresenceOptions {
  readonly connection: Connection;
  readonly topics: Topics;
  readonly nonce: string;
  readonly presence: ProcessPresence;
  readonly after: After;
  readonly log: Log;
}

/** This process on the bus. */
export interface Presence {
  /** Says something else of it from now on. */
  readonly update: (presence: ProcessPresence) => void;
  /** Says it once more, so that others know that it lives. */
  readonly beat: () => void;
  readonly settled: (timeoutMs: number) => Promise<void>;
  /** Goes offline in order. Errors: `BUS_UNAVAILABLE` when the broker does not take it. */
  readonly leave: (timeoutMs: number) => Promise<void>;
  readonly close: () => void;
}

/**
 * Keeps the process topic in place. The will of a connection that this process lost earlier may clear it late; then it
 * is published again, while the topic of a process that is really gone stays cleared.
 */
export const announceProcess = (options: PresenceOptions): Presence => {
  const { topics, nonce, presence, ...rest } = options;
  const { connection, log } = options;
  let said = '';
  const topic = topics.process(nonce);
  const subtree = retainedSubtree({ ...rest, topics, filters: [topic], isExclusive: true });
  const update = (next: ProcessPresence): void => {
    said = JSON.stringify(next);
    subtree.set(topic, said);
  };
  update(presence);
  return {
    update,
    beat: () => {
      connection
        .publish(topic, said, { qos: 1, retain: true })
        .catch((error: unknown) => log.debug({ err: error }, 'heartbeat lost'));
    },
    settled: subtree.settled,
    leave: (timeoutMs) => {
      subtree.clear(topic);
      return subtree.settled(timeoutMs);
    },
    close: subtree.close,
  };
};
