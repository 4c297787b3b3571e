import { rm } from 'node:fs/promises';
import type { AppError } from '@infrakit/core';
import type { Log } from '@infrakit/spi';
import { findBufferFiles } from './buffer-files.ts';
import { qosOf } from './buffer-frames.ts';
import { bufferReader } from './buffer-reader.ts';
import { type BufferFact, encodeFact, encodeMessage, type KeptMessage } from './buffer-record.ts';
import { bufferWriter } from './buffer-writer.ts';

/** A message that is under way to the sink, or was when the process ended. */
export interface UnderWay {
  readonly message: KeptMessage;
  /** Its packet id at the sink: the same after a restart, so that the sink knows it again [MQTT-4.4.0-1]. */
  readonly id: number;
  readonly bytes: number;
  /** Whether the sink has received it and is to be told to release it (QoS 2). */
  isRecorded: boolean;
}

/** Messages between their source and their sink, on the disk. */
export interface DiskBuffer {
  /** Whether the source's side had a session here, with what it had received. */
  readonly isKnown: () => boolean;
  /** Begins such a session anew, or ends it. Durable when it resolves. */
  readonly setKnown: (isKnown: boolean) => Promise<void>;
  /** Resolves when the message of QoS 2 is durable that the source gave this packet id and has not released; null for none. */
  readonly received: (id: number) => Promise<void> | null;
  /** Keeps a message; durable when it resolves. */
  readonly add: (message: Omit<KeptMessage, 'seq'>) => Promise<void>;
  /** Whether so much is on its way to the disk that more should wait for it. */
  readonly isBehind: () => boolean;
  /** The source has released a packet id; durable when it resolves. */
  readonly released: (id: number) => Promise<void>;
  /** Whether no message was ever in it. */
  readonly isFresh: () => boolean;
  /** All that are under way, in their order; and the one with a packet id. */
  readonly underWay: () => readonly UnderWay[];
  readonly find: (id: number) => UnderWay | undefined;
  /** The next one to be sent, under way from now on; null when there is none or enough are under way. */
  readonly take: () => Promise<UnderWay | null>;
  /** The sink has received it; durable when it resolves. */
  readonly recorded: (one: UnderWay) => Promise<void>;
  /** The sink has it. */
  readonly done: (one: UnderWay) => Promise<void>;
  /** Gives up the oldest that was never sent, and says what it was; null when there is none. */
  readonly dropOldest: () => Promise<{ readonly topic: string; readonly bytes: number } | null>;
  /** When the oldest message that may be dropped came, in ms; null for none. */
  readonly oldestDroppableMs: () => Promise<number | null>;
  readonly status: () => BufferStatus;
  /** Is called when there is something new to take. */
  readonly onMore: (call: () => void) => void;
  readonly close: () => Promise<void>;
  /** Closes it and removes its folder. */
  readonly remove: () => Promise<void>;
}

/** What waits. */
export interface BufferStatus {
  readonly messages: number;
  readonly bytes: number;
  /** When the oldest of them came, in ms; null for none. */
  readonly oldestMs: number | null;
}

/**
 * The most that is under way at once. After a restart so many may have been sent without a word of it on the disk: they are
 * never dropped, and a change to smaller numbers would drop some of them.
 */
const [maxUnderWay, maxUnderWayBytes] = [256, 4 * 1024 * 1024];
const packetIds = 65_535;
const maxPendingBytes = 8 * 1024 * 1024;

export interface DiskBufferOptions {
  readonly folder: string;
  readonly fileBytes: () => number;
  readonly log: Log;
  /** So many bytes are no longer kept. */
  readonly freed: (bytes: number) => void;
  /** The disk refused. From then on it refuses everything: what is on the disk is found by opening it anew. */
  readonly failed: (error: AppError) => void;
}

/** Opens a buffer. Errors: `STORE_UNAVAILABLE`. */
export const openDiskBuffer = async (options: DiskBufferOptions): Promise<DiskBuffer> => {
  const { folder, log, freed } = options;
  const { files, state } = await findBufferFiles(folder, log);
  const writer = bufferWriter({
    folder,
    files,
    fileBytes: options.fileBytes,
    isEmpty: () => state.messages() === 0,
    snapshot: state.snapshot,
    failed: options.failed,
  });
  /** Read, and neither taken nor dropped so far. */
  let ahead: { readonly message: KeptMessage; readonly bytes: number } | null = null;
  const way = new Map<number, UnderWay>();
  const finishing = new Set<UnderWay>();
  /** Packet ids of QoS 2 messages that are on their way to the disk. */
  const arriving = new Map<number, Promise<void>>();
  let lastSeq = state.nextSeq();
  /** When the oldest came that was neither read nor taken, where nothing has been read ahead. */
  let headMs = 0;
  let more = (): void => undefined;

  const write = (fact: BufferFact): Promise<void> => writer.append(encodeFact(fact), () => state.apply(fact));
  const reader = bufferReader({
    files: writer.files,
    isWanted: state.isWaiting,
    damaged: (file, at) => {
      const next = writer.files().find(({ number }) => number > file.number);
      const upTo = next?.firstSeq ?? state.nextSeq();
      const bytes = Math.min(state.bytes(), file.bytes - at);
      const from = Math.min(Math.max(state.frontier(), file.firstSeq), upTo);
      log.error({ path: file.path, at, from, upTo }, 'messages of a buffer cannot be read and are lost');
      freed(bytes);
      write({ dropped: from, upTo, messages: upTo - from, bytes }).catch(() => undefined);
    },
  });

  let turn: Promise<unknown> = Promise.resolve();
  /** The reader gives one message after the other to whoever comes first. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = turn.then(work);
    turn = result.catch(() => undefined);
    return result;
  };
  const look = async (): Promise<typeof ahead> => {
    ahead ??= await reader.next();
    return ahead;
  };
  const wayBytes = (): number => {
    let sum = 0;
    for (const { bytes } of way.values()) sum += bytes;
    return sum;
  };
  const begin = (): UnderWay | null => {
    if (ahead === null) return null;
    const { message, bytes } = ahead;
    const id = (message.seq % packetIds) + 1;
    if (way.has(id)) return null;
    const one = { message, id, bytes, isRecorded: state.isRecorded(message.seq) };
    ahead = null;
    way.set(id, one);
    state.taken(message.seq);
    return one;
  };

  // What was under way when the process ended: what is known to have been, and what may have been without a word of it.
  const known = new Set(state.open());
  let [run, runBytes] = [0, 0];
  for (;;) {
    const next = await look();
    if (next === null) break;
    if (!known.has(next.message.seq)) {
      if (run >= maxUnderWay || runBytes >= maxUnderWayBytes) break;
      run += 1;
      runBytes += next.bytes;
    }
    if (begin() === null) break;
  }

  const close = async (): Promise<void> => {
    await inTurn(async () => undefined);
    await writer.close();
    await reader.close();
  };

  return {
    isKnown: state.isKnown,
    setKnown: (session) => write({ session }),
    received: (id) => arriving.get(id) ?? (state.hasReceived(id) ? Promise.resolve() : null),
    add: (given) => {
      const message = { ...given, seq: lastSeq };
      lastSeq += 1;
      const bytes = encodeMessage(message);
      const isRemembered = qosOf(message.flags) === 2;
      const durable = writer.append(bytes, () => {
        if (state.messages() === 0) headMs = message.receivedMs;
        state.added(message.seq, bytes.length, isRemembered ? message.id : null);
        arriving.delete(message.id);
        more();
      });
      if (isRemembered) arriving.set(message.id, durable);
      return durable;
    },
    isBehind: () => writer.pendingBytes() > maxPendingBytes,
    released: (id) => write({ released: id }),
    isFresh: () => state.nextSeq() === 0,
    find: (id) => way.get(id),
    underWay: () => [...way.values()].sort((left, right) => left.message.seq - right.message.seq),
    take: () =>
      inTurn(async () => {
        if (way.size >= maxUnderWay || wayBytes() >= maxUnderWayBytes) return null;
        await look();
        return begin();
      }),
    recorded: async (one) => {
      await write({ recorded: one.message.seq });
      one.isRecorded = true;
    },
    done: async (one) => {
      if (way.get(one.id) !== one || finishing.has(one)) return;
      finishing.add(one);
      await write({ done: one.message.seq, bytes: one.bytes });
      way.delete(one.id);
      finishing.delete(one);
      freed(one.bytes);
      await writer.renew();
      writer.tidy(state.isOver);
      more();
    },
    dropOldest: () =>
      inTurn(async () => {
        const next = await look();
        if (next === null) return null;
        ahead = null;
        const { seq, topic } = next.message;
        freed(next.bytes);
        write({ dropped: seq, upTo: seq + 1, messages: 1, bytes: next.bytes }).then(
          () => writer.tidy(state.isOver),
          () => undefined,
        );
        await look();
        return { topic: topic.toString('utf8'), bytes: next.bytes };
      }),
    oldestDroppableMs: () => inTurn(async () => (await look())?.message.receivedMs ?? null),
    status: () => {
      const messages = state.messages();
      let oldestMs = ahead?.message.receivedMs ?? (way.size > 0 ? Number.POSITIVE_INFINITY : headMs);
      for (const { message } of way.values()) oldestMs = Math.min(oldestMs, message.receivedMs);
      return { messages, bytes: state.bytes(), oldestMs: messages === 0 ? null : oldestMs };
    },
    onMore: (call) => {
      more = call;
    },
    close,
    remove: async () => {
      await close().catch(() => undefined);
      await rm(folder, { recursive: true, force: true });
    },
  };
};
