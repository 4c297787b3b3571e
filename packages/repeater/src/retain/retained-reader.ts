import { AppError } from '@infrakit/core';
import type { Clock } from '@infrakit/runtime';
import type { Endpoint } from '../link/endpoint.ts';
import { connectTo, leave } from '../link/link-connect.ts';
import { type FrameVisitor, frameCutter } from '../wire/frame-cutter.ts';
import { subscribeFrame } from '../wire/handshake.ts';
import { packetType, pingFrame } from '../wire/mqtt-frame.ts';
import { topicEnd } from '../wire/publish-rewriter.ts';

/** What is told of the messages of a source. */
export interface RetainedVisitor {
  readonly retained: (topic: string, payload: Buffer) => void;
  /** One that is larger than is taken. */
  readonly tooLarge: (topic: string) => void;
  /** One that was published just now. */
  readonly live: (topic: string) => void;
}

/** A connection to a source of 3.1.1 that tells what is retained there. */
export interface RetainedReader {
  /**
   * Subscribes, and resolves when all that is retained under the filters was told. 3.1.1 has no sign for that: it is so when nothing
   * retained came for a while, and the source has answered a ping that was sent after the last one. Rejects when it is cut short.
   */
  readonly read: (filters: readonly string[]) => Promise<void>;
  /** Stops reading until `resume`. */
  readonly pause: () => void;
  readonly resume: () => void;
  readonly close: () => Promise<void>;
}

export interface ReaderDeps {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** After so long without a word the source counts as gone, in ms. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/** A source that has not told all within this time, in ms, never will. */
const mostMs = 10 * 60_000;
/** After so long without a retained message there may be no more, in ms. */
const quietMs = 500;

interface Reading {
  readonly done: () => void;
  readonly fail: (error: Error) => void;
}

/** Connects with a session that ends with the connection. Errors: those of `connectTo`. */
export const openRetainedReader = async (
  endpoint: Endpoint,
  clientId: string,
  visitor: RetainedVisitor,
  deps: ReaderDeps,
): Promise<RetainedReader> => {
  const { clock, signal, timeoutMs, maxBytes } = deps;
  const keepaliveS = Math.max(5, Math.ceil((2 * timeoutMs) / 1_000));
  const { stream } = await connectTo(endpoint, { clientId, clean: true, keepaliveS, version: 4 }, deps);
  let reading: Reading | null = null;
  let isGranted = false;
  let isAnswered = false;
  let isCalm = true;
  let heardMs = clock.now();
  let beganMs = heardMs;
  let lastId = 0;
  let isPaused = false;

  const end = (error: Error): void => {
    stream.destroy();
    reading?.fail(error);
  };
  const topicOf = (buffer: Buffer, start: number, body: number, frameEnd: number): readonly [string, number] => {
    const qos = ((buffer[start] ?? 0) >> 1) & 3;
    const rest = topicEnd(buffer, qos, body, frameEnd);
    return [buffer.toString('utf8', body + 2, rest), rest + (qos > 0 ? 2 : 0)];
  };
  const isRetained = (buffer: Buffer, start: number): boolean => ((buffer[start] ?? 0) & 1) === 1;

  const visit: FrameVisitor = (buffer, start, body, frameEnd) => {
    const type = (buffer[start] ?? 0) >> 4;
    if (type === packetType.pingresp) isAnswered = true;
    if (type === packetType.suback) {
      const isRefused = buffer.subarray(body + 2, frameEnd).some((code) => code >= 0x80);
      if (isRefused) throw new AppError('BUS_REFUSED', 'the source does not let us subscribe');
      isGranted = true;
    }
    if (type !== packetType.publish) return;
    const [topic, payloadAt] = topicOf(buffer, start, body, frameEnd);
    if (!isRetained(buffer, start)) return visitor.live(topic);
    isCalm = false;
    visitor.retained(topic, Buffer.from(buffer.subarray(payloadAt, frameEnd)));
  };
  const tooLarge: FrameVisitor = (buffer, start, body, frameEnd) => {
    const [topic] = topicOf(buffer, start, body, frameEnd);
    isCalm &&= !isRetained(buffer, start);
    (isRetained(buffer, start) ? visitor.tooLarge : visitor.live)(topic);
  };

  const cut = frameCutter({ maxBytes, tooLarge });
  stream.on('data', (chunk: Buffer) => {
    heardMs = clock.now();
    try {
      cut(chunk, visit);
    } catch (error) {
      end(error instanceof Error ? error : new Error(String(error)));
    }
  });
  stream.on('close', () => end(new AppError('BUS_UNAVAILABLE', 'the source closed the connection')));
  signal.addEventListener('abort', () => end(new AppError('RPC_CANCELLED', 'the mirror is being stopped')), {
    once: true,
  });
  stream.resume();

  /** Looks again and again until there was a calm time with an answer behind it. */
  const watch = (own: Reading): void => {
    if (reading !== own) return;
    if (isGranted && isAnswered && isCalm) {
      own.done();
      return;
    }
    if (clock.now() - heardMs > timeoutMs && !isPaused) {
      end(new AppError('BUS_UNAVAILABLE', `the source says nothing for ${timeoutMs} ms`));
      return;
    }
    if (clock.now() - beganMs > mostMs) {
      end(new AppError('BUS_UNAVAILABLE', 'there is no end to what the source has retained'));
      return;
    }
    isCalm = true;
    isAnswered = false;
    stream.write(pingFrame);
    clock.after(quietMs, () => watch(own));
  };

  return {
    read: (filters) =>
      new Promise<void>((resolve, reject) => {
        const over = (): void => {
          reading = null;
        };
        const own: Reading = {
          done: () => {
            over();
            resolve();
          },
          fail: (error) => {
            over();
            reject(error);
          },
        };
        reading = own;
        if (stream.destroyed) return end(new AppError('BUS_UNAVAILABLE', 'the source closed the connection'));
        lastId += 1;
        isGranted = false;
        heardMs = clock.now();
        beganMs = heardMs;
        stream.write(
          subscribeFrame(
            filters.map((filter) => ({ filter, qos: 0 })),
            lastId,
            4,
          ),
        );
        isCalm = false;
        watch(own);
      }),
    pause: () => {
      isPaused = true;
      stream.pause();
    },
    resume: () => {
      isPaused = false;
      heardMs = clock.now();
      stream.resume();
    },
    close: () => leave(stream, clock),
  };
};
