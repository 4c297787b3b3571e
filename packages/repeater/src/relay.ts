import type { Duplex } from 'node:stream';
import { ackFilter } from './ack-filter.ts';
import { frameCutter } from './frame-cutter.ts';
import { publishRewriter, type TopicMap } from './publish-rewriter.ts';

/** How a relay is set up. */
export interface RelayOptions {
  readonly map: TopicMap;
  readonly keepsRetain: boolean;
  /** The largest frame that is taken from either side, in bytes. */
  readonly maxBytes: number;
}

/** A running relay. */
export interface Relay {
  readonly messages: () => number;
  readonly bytes: () => number;
  readonly confirmed: () => number;
  /** Resolves when either side has ended, with why. */
  readonly ended: Promise<Error | null>;
}

/**
 * Joins two connected MQTT 3.1.1 streams: publishes of the source go to the sink under their mapped topics, one write a
 * chunk; acknowledgements of the sink go back with their packet ids. So the source is acknowledged only when the sink has
 * acknowledged, and a side that is slow holds the other up. Ends both when one ends.
 */
export const relay = (source: Duplex, sink: Duplex, options: RelayOptions): Relay => {
  const cut = frameCutter(options.maxBytes);
  const rewriter = publishRewriter(options.map, options);
  const acks = ackFilter(options.maxBytes);
  let messages = 0;
  let bytes = 0;
  let finish: (error: Error | null) => void = () => undefined;
  const ended = new Promise<Error | null>((resolve) => {
    finish = resolve;
  });
  const end = (error: Error | null): void => {
    source.destroy();
    sink.destroy();
    finish(error);
  };

  /** Writes, and stops reading `from` until `to` has taken it. */
  const pass = (from: Duplex, to: Duplex, chunk: Buffer): void => {
    if (to.write(chunk)) return;
    from.pause();
    to.once('drain', () => from.resume());
  };
  const guarded =
    (work: (chunk: Buffer) => void) =>
    (chunk: Buffer): void => {
      try {
        work(chunk);
      } catch (error) {
        end(error instanceof Error ? error : new Error(String(error)));
      }
    };

  source.on(
    'data',
    guarded((chunk) => {
      cut(chunk, rewriter.frame);
      const done = rewriter.take();
      messages += done.messages;
      bytes += done.forward?.length ?? 0;
      if (done.back !== null) source.write(done.back);
      if (done.forward !== null) pass(source, sink, done.forward);
    }),
  );
  sink.on(
    'data',
    guarded((chunk) => {
      const back = acks.chunk(chunk);
      if (back !== null) pass(sink, source, back);
    }),
  );
  for (const side of [source, sink]) {
    side.on('error', end);
    side.on('close', () => end(null));
  }
  return { messages: () => messages, bytes: () => bytes, confirmed: acks.confirmed, ended };
};
