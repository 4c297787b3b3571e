import { type AppError, type RpcCancel, type RpcProgress, type RpcRequest, toAppError } from '@infrakit/core';
import { type CallContext, type Log, whenAborted } from '@infrakit/spi';
import type { Connection } from '../connection/connection.ts';
import { chunksOf } from './chunks.ts';
import { encodeFrame, type RpcClock, type RpcLimits } from './rpc-frame.ts';
import { publishAll } from './rpc-send.ts';

/** One call as its client sees it, until it is answered or given up. */
export interface Exchange {
  /** The result as it came; rejects with what the callee answered, or when the request cannot be sent at all. */
  readonly answer: Promise<unknown>;
  /** Sends the request, or sends it again after a reconnect, if there is a connection; the time it has left goes with it. */
  readonly send: () => void;
  readonly succeed: (result: unknown) => void;
  readonly fail: (error: AppError) => void;
  readonly progress: (note: RpcProgress['params']) => void;
}

export interface ExchangeOptions {
  readonly connection: Connection;
  readonly topic: string;
  /** Resolves when answers can come in. */
  readonly ready: (options?: { readonly timeoutMs?: number }) => Promise<void>;
  readonly isConnected: () => boolean;
  readonly request: Omit<RpcRequest, 'jsonrpc' | 'sentAtMs' | 'timeoutMs' | 'context'>;
  /** Its signal ends the call; its progress extends the deadline. */
  readonly ctx: CallContext;
  readonly clock: RpcClock;
  readonly log: Log;
  readonly limits: RpcLimits;
  /** From now on the callee may have it. */
  readonly onSend: () => void;
}

const retryMs = 250;
/**
 * A request is lost when the callee is just then without its connection, and nobody says so: without a sign of life it is
 * sent again after this time, then after twice as long, and so on. The callee joins it to the first.
 */
const silenceMs = 1_000;

/** A call that nothing has been sent of yet. When it is given up, the callee is told. */
export const exchange = (options: ExchangeOptions): Exchange => {
  const { connection, topic, ready, isConnected, request, ctx, clock, log, limits, onSend } = options;
  const { idempotencyKey, fencing, trace } = ctx;
  const { promise: answer, resolve, reject } = withResolvers<unknown>();
  let isEnded = false;
  let attempts = 0;
  let isSent = false;
  let lastSeq = -1;
  /** When the present stretch of the deadline began. */
  let sinceMs = clock.nowMs();
  let stopRetry: () => void = () => {};
  let nextSilenceMs = silenceMs;

  const end = (finish: () => void): void => {
    if (isEnded) return;
    isEnded = true;
    stopRetry();
    forget();
    finish();
  };
  const fail = (error: AppError): void => end(() => reject(error));

  const cancel = (): void => {
    const { id, replyTo, to } = request;
    const frame: RpcCancel = { jsonrpc: '2.0', method: 'cancel', params: { id, replyTo, to } };
    connection
      .publish(topic, Buffer.from(encodeFrame(frame, limits.maxMessageBytes)), { qos: 1 })
      .catch((error: unknown) => log.debug({ err: error, topic }, 'cancellation lost'));
  };
  const forget = whenAborted(ctx.signal, () => {
    if (isSent && isConnected()) cancel();
    fail(toAppError(ctx.signal.reason));
  });

  const encode = (leftMs: number): string =>
    encodeFrame(
      {
        jsonrpc: '2.0',
        ...request,
        sentAtMs: clock.nowMs(),
        timeoutMs: leftMs,
        context: {
          ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
          ...(fencing === undefined ? {} : { fencing }),
          ...(trace === undefined ? {} : { trace }),
        },
      } satisfies RpcRequest,
      limits.maxMessageBytes,
    );

  const attempt = async (number: number): Promise<void> => {
    const leftMs = (): number => ctx.timeoutMs - (clock.nowMs() - sinceMs);
    if (leftMs() <= 0) return;
    await ready({ timeoutMs: leftMs() });
    if (isEnded || number !== attempts || leftMs() <= 0) return;
    // Pieces of another attempt say another time: they must not mix.
    const payloads = chunksOf(`${request.replyTo} ${request.id} ${number}`, encode(leftMs()), limits.chunkBytes);
    isSent = true;
    onSend();
    await publishAll(connection, topic, payloads, ctx.signal);
    if (isEnded || number !== attempts || lastSeq >= 0) return;
    stopRetry = clock.after(nextSilenceMs, send);
    nextSilenceMs *= 2;
  };

  const send = (): void => {
    if (isEnded || !isConnected()) return;
    stopRetry();
    attempts += 1;
    const number = attempts;
    attempt(number).catch((thrown: unknown) => {
      const error = toAppError(thrown);
      if (error.code !== 'BUS_UNAVAILABLE') return fail(error);
      if (isEnded || number !== attempts) return;
      log.debug({ err: error, topic }, 'call waits for the broker');
      stopRetry = clock.after(retryMs, send);
    });
  };

  return {
    answer,
    send,
    succeed: (result) => end(() => resolve(result)),
    fail,
    progress: ({ seq, message, fraction }) => {
      if (isEnded || seq <= lastSeq) return;
      lastSeq = seq;
      stopRetry();
      sinceMs = clock.nowMs();
      ctx.progress?.({ message, ...(fraction === undefined ? {} : { fraction }) });
    },
  };
};

const withResolvers = <T>() => {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
};
