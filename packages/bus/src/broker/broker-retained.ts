import { Readable } from 'node:stream';
import { matchesFilter } from '@infrakit/core';

/** A retained message. */
export interface Retained {
  readonly topic: string;
  readonly qos: 0 | 1 | 2;
  readonly payload: Buffer;
}

export interface RetainedOptions {
  readonly maxMessages: number;
  readonly maxBytes: number;
  /** Copies a change to disk; an empty payload clears. */
  readonly save: (message: Retained) => void;
}

/** Every retained message of a broker, in memory: one subscription must not decode a database from end to end. */
export interface RetainedMessages {
  /** Whether it can be kept within the bounds; asked before it is set. */
  readonly hasRoomFor: (topic: string, payloadBytes: number) => boolean;
  readonly set: (message: Retained) => void;
  readonly list: (filter: string) => readonly Retained[];
  /** What the filters match, once for each filter. */
  readonly matching: (filters: readonly string[]) => Readable;
  readonly topics: () => readonly string[];
  readonly count: () => number;
  readonly bytes: () => number;
}

const sizeOf = (message: Retained): number => message.topic.length + message.payload.length;

/** The part of a filter before its first wildcard: comparing that alone passes over almost all topics of a large bus. */
const literalOf = (filter: string): string => {
  const wildcard = filter.search(/\/?[+#]/);
  return wildcard < 0 ? filter : filter.slice(0, wildcard);
};

export const retainedMessages = ({ maxMessages, maxBytes, save }: RetainedOptions): RetainedMessages => {
  const messages = new Map<string, Retained>();
  let bytes = 0;

  function* match(filter: string): Generator<Retained> {
    const literal = literalOf(filter);
    for (const message of messages.values()) {
      if (message.topic.startsWith(literal) && matchesFilter(filter, message.topic)) yield message;
    }
  }
  function* packets(filters: readonly string[]): Generator<Retained & { cmd: 'publish'; retain: true }> {
    for (const filter of filters) {
      for (const message of match(filter)) yield { ...message, cmd: 'publish', retain: true };
    }
  }
  return {
    hasRoomFor: (topic, payloadBytes) => {
      if (payloadBytes === 0) return true;
      const before = messages.get(topic);
      if (before === undefined && messages.size >= maxMessages) return false;
      return bytes - (before === undefined ? 0 : sizeOf(before)) + topic.length + payloadBytes <= maxBytes;
    },
    set: (message) => {
      const before = messages.get(message.topic);
      if (before !== undefined) bytes -= sizeOf(before);
      if (message.payload.length === 0) messages.delete(message.topic);
      else {
        messages.set(message.topic, message);
        bytes += sizeOf(message);
      }
      save(message);
    },
    list: (filter) => [...match(filter)],
    matching: (filters) => Readable.from(packets(filters)),
    topics: () => [...messages.keys()],
    count: () => messages.size,
    bytes: () => bytes,
  };
};
