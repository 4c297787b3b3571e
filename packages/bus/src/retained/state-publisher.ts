import type { StatePayload, Topics } from '@infrakit/core';
import type { After, Log, ObjectState, StatePublisher } from '@infrakit/spi';
import type { Connection } from '../connection/connection.ts';
import { retainedSubtree } from './retained-subtree.ts';

export interface StatePublisherOptions {
  readonly connection: Connection;
  readonly topics: Topics;
  readonly plugin: string;
  readonly incarnation: string;
  /** The term of this incarnation now, where its kind has leaders. */
  readonly term: () => number | undefined;
  /** Whether this incarnation leads; a standby publishes nothing, and what it would when it comes to lead. */
  readonly isWriting: () => boolean;
  readonly after: After;
  readonly log: Log;
}

/** The port, with what the process needs of it. */
export interface RetainedStates extends StatePublisher {
  /** Says that the plugin lives: publishes the state of the plugin itself again, with a new `seq`. Whether it did. */
  readonly heartbeat: () => boolean;
  /** This incarnation begins or ceases to lead. */
  readonly review: () => void;
  /** Publishes what waits. Errors: `BUS_UNAVAILABLE` when the broker does not take it. */
  readonly drain: (timeoutMs: number) => Promise<void>;
  readonly close: () => void;
}

/** A burst of changes is published once, this long after its first: DESIGN §3 allows 500 ms. */
const coalesceMs = 250;
/** Until states that an earlier incarnation left, and this one does not know, are cleared. */
const leftoverMs = 60_000;

const idle: ObjectState = { kind: 'plugin', revision: 0, specHash: '', conditions: [], counts: {}, digest: '' };

/** Keeps the retained states of a plugin's objects (DESIGN §3): never the spec or rows, the newest after a burst. */
export const statePublisher = (options: StatePublisherOptions): RetainedStates => {
  const { topics, plugin, incarnation, term, after } = options;
  const states = new Map<string, ObjectState>();
  const changed = new Set<string>();
  const seqs = new Map<string, number>();
  let mayClearAll = false;
  let stopTimer: (() => void) | undefined;
  const subtree = retainedSubtree({
    ...options,
    filters: [topics.filters.states(plugin)],
    mayClear: () => mayClearAll,
  });
  const stopGrace = after(leftoverMs, () => {
    mayClearAll = true;
    subtree.review();
  });

  const write = (object: string): void => {
    const topic = topics.state(plugin, object);
    const state = states.get(object);
    if (state === undefined) {
      subtree.clear(topic);
      return;
    }
    const seq = (seqs.get(object) ?? 0) + 1;
    seqs.set(object, seq);
    const { kind, revision, specHash, conditions, counts, digest } = state;
    const leading = term();
    const payload: StatePayload = {
      ...{ kind, revision, specHash, conditions, counts, digest, incarnation, seq },
      ...(leading === undefined ? {} : { term: leading }),
    };
    subtree.set(topic, JSON.stringify(payload));
  };

  const flush = (): void => {
    stopTimer = undefined;
    for (const object of changed) write(object);
    changed.clear();
  };

  const change = (object: string): void => {
    changed.add(object);
    stopTimer ??= after(coalesceMs, flush);
  };

  return {
    publish: (object, state) => {
      states.set(object, state);
      change(object);
    },
    clear: (object) => {
      states.delete(object);
      change(object);
    },
    heartbeat: () => {
      if (states.size === 0 || !options.isWriting()) return false;
      if (!states.has('')) states.set('', idle);
      write('');
      return true;
    },
    review: () => {
      for (const object of states.keys()) change(object);
      subtree.review();
    },
    drain: (timeoutMs) => {
      stopTimer?.();
      flush();
      return subtree.settled(timeoutMs);
    },
    close: () => {
      stopTimer?.();
      stopGrace();
      subtree.close();
    },
  };
};
