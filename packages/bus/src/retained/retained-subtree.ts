import { AppError, errorTable, type Topics, toAppError } from '@infrakit/core';
import { type After, type Log, withDeadline } from '@infrakit/spi';
import type { Connection, Message } from '../connection/connection.ts';
import { readRetained } from './retained-read.ts';

export interface RetainedSubtreeOptions {
  readonly connection: Connection;
  readonly topics: Topics;
  /** The topics that are ours; others may write there too, unless `isExclusive`. */
  readonly filters: readonly string[];
  /** Whether nobody else has a reason to write there: what somebody wrote over is put right at once. */
  readonly isExclusive?: boolean;
  /** Whether we are the one to write now; a standby only remembers what should be there. Always when left out. */
  readonly isWriting?: () => boolean;
  /** Whether a retained topic that was there before us, and that nobody wants, may be cleared now. */
  readonly mayClear?: (topic: string) => boolean;
  readonly after: After;
  readonly log: Log;
}

/** Retained topics as they should be. */
export interface RetainedSubtree {
  /** The newest payload counts; the same one as before is not published again. */
  readonly set: (topic: string, payload: string) => void;
  readonly clear: (topic: string) => void;
  /** Asks `mayClear` and `isWriting` again, and compares with what is there. */
  readonly review: () => void;
  /** Resolves when the broker has all of it. Errors: `BUS_UNAVAILABLE` after the deadline. */
  readonly settled: (timeoutMs: number) => Promise<void>;
  /** Stops; what is retained stays. */
  readonly close: () => void;
}

/** Publishes on their way at once. */
const inFlight = 32;
/** Until what somebody cleared or wrote over is put right: nobody can make us publish more often. */
const repairMs = 200;
const retryMs = 1_000;

const textOf = ({ payload }: Message): string =>
  Buffer.from(payload.buffer, payload.byteOffset, payload.length).toString();

/**
 * Keeps retained topics equal to what should be (DESIGN §3): in each session it reads what is there, publishes what is
 * missing or wrong and clears what is not wanted, so that a broker that lost its memory is whole again. One publish of a
 * topic at a time, so that the newest is the last.
 */
export const retainedSubtree = (options: RetainedSubtreeOptions): RetainedSubtree => {
  const { connection, topics, filters, isExclusive = false, isWriting = () => true, after, log } = options;
  const { mayClear = () => false } = options;
  const wanted = new Map<string, string>();
  /** What the broker surely has as it should be, in this session. */
  const confirmed = new Set<string>();
  const unwanted = new Set<string>();
  const dirty = new Set<string>();
  const busy = new Set<string>();
  const suspects = new Set<string>();
  const waiters = new Set<() => void>();
  let [isReading, isClosed, isConnected, isEnded] = [true, false, false, false];
  let stopRetry: (() => void) | undefined;
  let stopRepair: (() => void) | undefined;

  const isSettled = (): boolean => isConnected && !isReading && dirty.size === 0 && busy.size === 0;

  const release = (): void => {
    for (const done of waiters) done();
    waiters.clear();
  };

  const publish = async (topic: string): Promise<void> => {
    dirty.delete(topic);
    busy.add(topic);
    const payload = wanted.get(topic) ?? '';
    try {
      await connection.publish(topic, payload, { qos: 1, retain: true });
      if (payload === '') unwanted.delete(topic);
      else if (wanted.get(topic) === payload) confirmed.add(topic);
    } catch (thrown) {
      const error = toAppError(thrown);
      if (errorTable[error.code].retry === 'never') {
        log.error({ err: error, topic }, 'retained topic refused');
        return;
      }
      log.debug({ err: error, topic }, 'retained topic not published');
      dirty.add(topic);
      stopRetry ??= after(retryMs, () => {
        stopRetry = undefined;
        work();
      });
    } finally {
      busy.delete(topic);
      if (stopRetry === undefined) work();
    }
  };

  const work = (): void => {
    if (isClosed || !isConnected) return;
    if (isWriting()) {
      for (const topic of dirty) {
        if (busy.size >= inFlight) return;
        if (!busy.has(topic)) publish(topic);
      }
    }
    if (isSettled()) release();
  };

  const doubt = (topic: string): void => {
    confirmed.delete(topic);
    suspects.add(topic);
    stopRepair ??= after(repairMs, () => {
      stopRepair = undefined;
      for (const suspect of suspects) if (wanted.has(suspect) && !confirmed.has(suspect)) dirty.add(suspect);
      suspects.clear();
      work();
    });
  };

  const leftOver = (topic: string): void => {
    unwanted.add(topic);
    if (mayClear(topic)) dirty.add(topic);
  };

  const receive = (message: Message): void => {
    const { topic, retain } = message;
    const payload = textOf(message);
    const own = wanted.get(topic);
    if (own === undefined) {
      if (payload === '') unwanted.delete(topic);
      else if (retain || isExclusive) leftOver(topic);
    } else if (payload === own) confirmed.add(topic);
    // A live message may be our own last one coming back, or the first of another incarnation that takes over: only
    // what is empty, or surely wrong, is put right before the next session.
    else if (!retain && (payload === '' || isExclusive) && !busy.has(topic)) doubt(topic);
    if (!isReading) work();
  };

  // Before the reader's, so that it finds itself connected.
  const status = connection.status.subscribe(({ kind }) => {
    isConnected = kind === 'connected';
    isEnded = kind === 'closed';
    if (isEnded) release();
  });
  const reader = readRetained(
    { connection, topics, filters, qos: 0, after, log },
    {
      begin: () => {
        isReading = true;
        confirmed.clear();
        unwanted.clear();
        work();
      },
      message: receive,
      end: () => {
        isReading = false;
        for (const topic of wanted.keys()) if (!confirmed.has(topic) && !busy.has(topic)) dirty.add(topic);
        work();
      },
    },
  );

  const change = (topic: string): void => {
    confirmed.delete(topic);
    dirty.add(topic);
    work();
  };

  return {
    set: (topic, payload) => {
      if (wanted.get(topic) === payload) return;
      wanted.set(topic, payload);
      change(topic);
    },
    clear: (topic) => {
      if (wanted.delete(topic)) change(topic);
    },
    review: reader.again,
    settled: (timeoutMs) =>
      withDeadline(
        async (signal) => {
          if (isSettled()) return;
          if (!isEnded) {
            await new Promise<void>((resolve) => {
              waiters.add(resolve);
              signal.addEventListener('abort', () => waiters.delete(resolve), { once: true });
            });
          }
          if (isEnded) throw new AppError('BUS_UNAVAILABLE', 'the connection is closed');
        },
        { after, what: 'publishing what is retained', timeoutMs },
      ).catch((cause: unknown) => {
        throw new AppError('BUS_UNAVAILABLE', `the broker did not take what is retained within ${timeoutMs} ms`, {
          cause,
        });
      }),
    close: () => {
      isClosed = true;
      reader.close();
      status.unsubscribe();
      stopRetry?.();
      stopRepair?.();
    },
  };
};
