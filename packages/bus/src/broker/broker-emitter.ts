import { filterIndex } from '@infrakit/core';
import type { AedesPublishPacket } from 'aedes';

/** Takes a message, and calls `done` when it has no more need of the sender. */
export type Listener = (packet: AedesPublishPacket, done: () => void) => void;

/** Who listens to what: what aedes passes its messages through, in the place of its own emitter. */
export interface BrokerEmitter {
  /** For aedes: what its option `mq` must have. */
  readonly mq: {
    readonly on: (filter: string, listener: Listener, done?: () => void) => void;
    readonly removeListener: (filter: string, listener: Listener, done?: () => void) => void;
    readonly emit: (packet: AedesPublishPacket, done?: (error?: Error) => void) => void;
    readonly close: (done: () => void) => void;
  };
  /** Sees each message before everybody else, also those whose topics begin with `$`. */
  readonly onEach: (listener: (packet: AedesPublishPacket) => void) => void;
  /** Whether aedes has a listener for a topic now. */
  readonly isHeard: (topic: string) => boolean;
}

/** An emitter without listeners. It also tells what nobody would hear, which then need not be sent. */
export const brokerEmitter = (): BrokerEmitter => {
  const index = filterIndex<Listener>();
  const removals = new Map<string, Map<Listener, () => void>>();
  let onEach: (packet: AedesPublishPacket) => void = () => undefined;
  let isClosed = false;

  return {
    mq: {
      on: (filter, listener, done) => {
        const ofFilter = removals.get(filter) ?? new Map<Listener, () => void>();
        removals.set(filter, ofFilter);
        if (!ofFilter.has(listener)) ofFilter.set(listener, index.add(filter, listener));
        if (done !== undefined) queueMicrotask(done);
      },
      removeListener: (filter, listener, done) => {
        const ofFilter = removals.get(filter);
        ofFilter?.get(listener)?.();
        ofFilter?.delete(listener);
        if (ofFilter?.size === 0) removals.delete(filter);
        if (done !== undefined) queueMicrotask(done);
      },
      emit: (packet, done = () => undefined) => {
        if (isClosed) return done(new Error('the broker has stopped'));
        onEach(packet);
        const listeners = index.match(packet.topic);
        let waiting = listeners.length + 1;
        const ready = (): void => {
          waiting -= 1;
          if (waiting === 0) done();
        };
        for (const listener of listeners) listener(packet, ready);
        ready();
      },
      close: (done) => {
        isClosed = true;
        setImmediate(done);
      },
    },
    onEach: (listener) => {
      onEach = listener;
    },
    isHeard: (topic) => index.match(topic).length > 0,
  };
};
