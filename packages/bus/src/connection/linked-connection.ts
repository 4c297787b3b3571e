import { AppError, checkTopic } from '@infrakit/core';
import { type After, type Log, withDeadline } from '@infrakit/spi';
import { ReplaySubject } from 'rxjs';
import type { Connection, ConnectionStatus, PublishOptions } from './connection.ts';
import type { Link, OpenLink } from './link.ts';
import { openSubscriptions } from './open-subscriptions.ts';
import { type PublishWindow, publishWindow } from './publish-window.ts';

/** What a lasting connection is made with. */
export interface LinkedConnectionOptions {
  readonly clientId: string;
  /** For errors: the broker's address without its password. */
  readonly broker: string;
  readonly open: OpenLink;
  /** The wait in ms before the next try, from the wait before (0 after a connection) and what ended the last link. */
  readonly waitMs: (previousMs: number, error: AppError) => number;
  /** Default deadline of a publish and of `ready`, in ms. */
  readonly timeoutMs: number;
}

export interface LinkedConnectionDeps {
  readonly after: After;
  readonly log: Log;
}

/** What is on its way at once: enough to fill a fast broker, little enough to hold in memory. */
const window = { maxCount: 1_000, maxBytes: 8 * 2 ** 20, maxWaitingBytes: 64 * 2 ** 20 };
/** What a publish costs beside its payload: headers here and in the client. */
const overheadBytes = 256;
const closeTimeoutMs = 2_000;

interface Session {
  readonly link: Link;
  readonly window: PublishWindow;
}

const unavailable = (message: string, cause?: unknown): AppError => new AppError('BUS_UNAVAILABLE', message, { cause });

/** A deadline that has passed means that the bus is not there: to its callers that is one thing. */
const asBusError = (what: string) => (error: unknown) => {
  throw error instanceof AppError && error.code === 'RPC_TIMEOUT'
    ? new AppError('BUS_UNAVAILABLE', error.message, { facts: { ...error.facts, what }, cause: error })
    : error;
};

/**
 * A {@link Connection} over one link after the other. It begins to connect at once and tries until it is closed; a link
 * that fails or ends is followed by the next after `waitMs`.
 */
export const linkedConnection = (options: LinkedConnectionOptions, deps: LinkedConnectionDeps): Connection => {
  const { clientId, broker, open, waitMs, timeoutMs: defaultTimeoutMs } = options;
  const { after, log } = deps;
  let present: ConnectionStatus = { kind: 'disconnected', reason: 'not connected yet' };
  // Replays also after completion: whoever comes late still learns that it is closed.
  const status = new ReplaySubject<ConnectionStatus>(1);
  const tell = (next: ConnectionStatus): void => {
    present = next;
    status.next(next);
  };
  const subscriptions = openSubscriptions({ log });
  let session: Session | undefined;
  let sessions = 0;
  let previousWaitMs = 0;
  let isClosed = false;
  let drop: () => void = () => {};
  let stopWait: () => void = () => {};

  const tryOnce = (): void => {
    let isOver = false;
    const dropThis = open({
      up: (link) => {
        previousWaitMs = 0;
        sessions += 1;
        session = { link, window: publishWindow({ ...window, maxCount: Math.min(window.maxCount, link.maxInFlight) }) };
        subscriptions.attach(link);
        tell({ kind: 'connected', session: sessions, protocol: link.protocol });
      },
      message: subscriptions.deliver,
      down: (error) => {
        isOver = true;
        if (isClosed) return;
        const wasConnected = session !== undefined;
        session = undefined;
        subscriptions.detach();
        previousWaitMs = waitMs(previousWaitMs, error);
        stopWait = after(previousWaitMs, tryOnce);
        const facts = { broker, code: error.code, reason: error.message, waitMs: previousWaitMs };
        if (wasConnected) log.warn(facts, 'disconnected');
        else log.debug(facts, 'not connected');
        tell({ kind: 'disconnected', reason: error.message });
      },
    });
    if (!isOver) drop = dropThis;
  };

  const finish = (): void => {
    isClosed = true;
    session = undefined;
    stopWait();
    subscriptions.closeAll(unavailable('the connection is closed'));
    tell({ kind: 'closed' });
    status.complete();
  };

  const currentSession = (): Session => {
    if (session !== undefined) return session;
    const why = present.kind === 'disconnected' ? present.reason : 'the connection is closed';
    throw unavailable(`not connected to ${broker}: ${why}`);
  };

  const publish = async (topic: string, payload: Uint8Array | string, how: PublishOptions): Promise<void> => {
    checkTopic(topic);
    const { link, window: room } = currentSession();
    const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload;
    const size = bytes.byteLength + Buffer.byteLength(topic) + overheadBytes;
    if (size > link.maxPacketBytes) {
      throw new AppError('PAYLOAD_TOO_LARGE', `${broker} takes at most ${link.maxPacketBytes} bytes a message`, {
        facts: { topic, bytes: bytes.byteLength },
      });
    }
    const { qos, retain = false, timeoutMs = defaultTimeoutMs, signal } = how;
    const what = `publishing to ${topic}`;
    await withDeadline(
      async (own) => {
        const leave = await room.enter(size, own);
        // The room stays taken past the deadline: until the broker has it or the link ends, it is in memory.
        await link.publish(topic, bytes, { qos, retain }).finally(leave);
      },
      { after, what, timeoutMs, ...(signal === undefined ? {} : { signal }) },
    ).catch(asBusError(what));
  };

  tell(present);
  tryOnce();
  return {
    clientId,
    status: status.asObservable(),
    publish,
    isHeard: (topic) => session?.link.isHeard?.(topic) ?? true,
    subscribe: (filter, qos, handler) => {
      const { isAcknowledged, answered, close } = subscriptions.open({ filter, qos }, handler);
      const what = `subscribing to ${filter}`;
      return {
        ready: async ({ timeoutMs = defaultTimeoutMs } = {}) => {
          if (isClosed) throw unavailable('the connection is closed');
          if (isAcknowledged()) return;
          await withDeadline(answered, { after, what, timeoutMs }).catch(asBusError(what));
        },
        close,
      };
    },
    close: async () => {
      if (isClosed) return;
      const link = session?.link;
      const dropLink = drop;
      finish();
      if (link !== undefined) {
        await withDeadline(() => link.end(), { after, what: 'closing', timeoutMs: closeTimeoutMs }).catch((error) =>
          log.debug({ err: error, broker }, 'closed without goodbye'),
        );
      }
      dropLink();
    },
    sever: () => {
      if (isClosed) return;
      const dropLink = drop;
      finish();
      dropLink();
    },
  };
};
