import type { BufferFact, BufferSnapshot } from './buffer-record.ts';

/**
 * What is known of the messages of a buffer. Messages are sent in their order, so that those which are neither done nor
 * dropped are the few in `open`, which were sent, and all from the frontier on.
 */
export interface BufferState {
  readonly nextSeq: () => number;
  readonly frontier: () => number;
  /** Sent, and neither done nor dropped; in their order. */
  readonly open: () => readonly number[];
  readonly isWaiting: (seq: number) => boolean;
  readonly isRecorded: (seq: number) => boolean;
  /** Whether a packet id of the source stands for a message of QoS 2 that it has not released. */
  readonly hasReceived: (id: number) => boolean;
  /** Whether the source's side has a session. */
  readonly isKnown: () => boolean;
  readonly messages: () => number;
  readonly bytes: () => number;
  /** A message is in the file. `id`: its packet id at the source where that is to be remembered. */
  readonly added: (seq: number, bytes: number, id: number | null) => void;
  /** A message is about to be sent. */
  readonly taken: (seq: number) => void;
  readonly apply: (fact: BufferFact) => void;
  readonly snapshot: () => BufferSnapshot;
  /** Whether none of the messages from `first` up to `end` waits or is under way. */
  readonly isOver: (first: number, end: number) => boolean;
}

/** Nothing was ever kept. */
export const emptySnapshot: BufferSnapshot = {
  nextSeq: 0,
  frontier: 0,
  open: [],
  recorded: [],
  received: [],
  messages: 0,
  bytes: 0,
  isKnown: false,
};

/** A state that begins with a snapshot. */
export const bufferState = (start: BufferSnapshot): BufferState => {
  let { nextSeq, frontier, messages, bytes, isKnown } = start;
  let open = new Set(start.open);
  let recorded = new Set(start.recorded);
  let received = new Set(start.received);

  /** Where one was sent, all before it were. */
  const sent = (seq: number): void => {
    for (; frontier <= seq; frontier += 1) open.add(frontier);
  };
  const gone = (count: number, size: number): void => {
    messages = Math.max(0, messages - count);
    bytes = Math.max(0, bytes - size);
  };

  return {
    nextSeq: () => nextSeq,
    frontier: () => frontier,
    open: () => [...open].sort((left, right) => left - right),
    isWaiting: (seq) => seq >= frontier || open.has(seq),
    isRecorded: (seq) => recorded.has(seq),
    hasReceived: (id) => received.has(id),
    isKnown: () => isKnown,
    messages: () => messages,
    bytes: () => bytes,
    added: (seq, size, id) => {
      nextSeq = seq + 1;
      messages += 1;
      bytes += size;
      if (id !== null) received.add(id);
    },
    taken: sent,
    apply: (fact) => {
      if ('done' in fact) {
        sent(fact.done);
        open.delete(fact.done);
        recorded.delete(fact.done);
        gone(1, fact.bytes);
      } else if ('recorded' in fact) {
        sent(fact.recorded);
        recorded.add(fact.recorded);
      } else if ('released' in fact) received.delete(fact.released);
      else if ('dropped' in fact) {
        sent(fact.dropped - 1);
        for (let seq = fact.dropped; seq < Math.min(fact.upTo, frontier); seq += 1) open.delete(seq);
        frontier = Math.max(frontier, fact.upTo);
        gone(fact.messages, fact.bytes);
      } else if ('session' in fact) {
        isKnown = fact.session;
        received.clear();
      } else if ('snapshot' in fact) {
        ({ nextSeq, frontier, messages, bytes, isKnown } = fact.snapshot);
        open = new Set(fact.snapshot.open);
        recorded = new Set(fact.snapshot.recorded);
        received = new Set(fact.snapshot.received);
      } else fact satisfies never;
    },
    snapshot: () => ({
      nextSeq,
      frontier,
      open: [...open],
      recorded: [...recorded],
      received: [...received],
      messages,
      bytes,
      isKnown,
    }),
    isOver: (first, end) => {
      if (frontier < end) return false;
      for (const seq of open) if (seq >= first && seq < end) return false;
      return true;
    },
  };
};
