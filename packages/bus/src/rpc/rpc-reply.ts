import { AppError, type RpcProgress, type RpcRequest, toAppError } from '@infrakit/core';
import type { Log } from '@infrakit/spi';
import type { Connection } from '../connection/connection.ts';
import { chunksOf } from './chunks.ts';
import { encodeError } from './rpc-error.ts';
import { encodeFrame, type RpcClock, type RpcLimits } from './rpc-frame.ts';
import { publishAll } from './rpc-send.ts';

/** The way of answers to their callers. */
export interface AnswerSender {
  /** Sends an answer; while the broker is away it is tried again until the caller waits no longer. */
  readonly send: (request: RpcRequest, frame: string) => void;
  /** Sends a sign of life, which may be lost. */
  readonly hint: (replyTo: string, progress: RpcProgress) => void;
  readonly close: () => void;
}

const retryMs = 200;
/** Answers that wait for the broker, together; beyond it the caller's next attempt must do. */
const maxWaitingBytes = 128 * 2 ** 20;

/** A sender for one connection. */
export const answerSender = (options: {
  readonly connection: Connection;
  readonly clock: RpcClock;
  readonly log: Log;
  readonly limits: RpcLimits;
}): AnswerSender => {
  const { connection, clock, log, limits } = options;
  const closing = new AbortController();
  const stops = new Set<() => void>();
  let waitingBytes = 0;
  let sent = 0;

  const wait = (): Promise<void> =>
    new Promise((resolve) => {
      const go = (): void => {
        stops.delete(stop);
        resolve();
      };
      const cancel = clock.after(retryMs, go);
      const stop = (): void => {
        cancel();
        go();
      };
      stops.add(stop);
    });

  const deliver = async (request: RpcRequest, frame: string): Promise<void> => {
    const untilMs = clock.nowMs() + request.timeoutMs;
    sent += 1;
    const id = `${request.to} ${sent}`;
    for (;;) {
      try {
        const payloads = chunksOf(id, frame, limits.chunkBytes);
        return await publishAll(connection, request.replyTo, payloads, closing.signal);
      } catch (thrown) {
        const error = toAppError(thrown);
        if (error.code !== 'BUS_UNAVAILABLE' || closing.signal.aborted || clock.nowMs() >= untilMs) throw error;
        log.debug({ err: error, method: request.method }, 'answer waits for the broker');
      }
      await wait();
    }
  };

  const send = (request: RpcRequest, frame: string): void => {
    const bytes = Buffer.byteLength(frame);
    if (waitingBytes > 0 && waitingBytes + bytes > maxWaitingBytes) {
      log.warn({ method: request.method, bytes }, 'answer dropped: too many wait for the broker');
      return;
    }
    waitingBytes += bytes;
    deliver(request, frame)
      .catch((error: unknown) => {
        log.warn({ err: error, method: request.method, bytes }, 'answer lost');
        if (toAppError(error).code === 'PAYLOAD_TOO_LARGE') refuse(request, toAppError(error));
      })
      .finally(() => {
        waitingBytes -= bytes;
      });
  };

  /** The broker takes not even a piece: the caller should know why it gets nothing. */
  const refuse = (request: RpcRequest, error: AppError): void => {
    const frame = encodeFrame(encodeError(request.id, error), limits.maxMessageBytes);
    connection
      .publish(request.replyTo, Buffer.from(frame), { qos: 1 })
      .catch((cause: unknown) => log.debug({ err: cause }, 'refusal lost'));
  };

  return {
    send,
    hint: (replyTo, progress) => {
      connection
        .publish(replyTo, Buffer.from(encodeFrame(progress, limits.maxMessageBytes)), { qos: 0 })
        .catch((error: unknown) => log.debug({ err: error }, 'progress lost'));
    },
    close: () => {
      closing.abort(new AppError('RPC_CANCELLED', 'the server stops'));
      for (const stop of stops) stop();
    },
  };
};
