import type { Duplex } from 'node:stream';
import { publishWindow } from '../link/publish-window.ts';
import type { RouteMap } from '../mirror/route.ts';
import { type AckFilter, ackFilter } from './ack-filter.ts';
import { type BrokerLimits, isNarrow } from './broker-limits.ts';
import { type FrameVisitor, frameCutter } from './frame-cutter.ts';
import { messageAcks } from './message-acks.ts';
import { messageRewriter } from './message-rewriter.ts';
import { packetType } from './mqtt-frame.ts';
import { type PublishRewriter, publishRewriter } from './publish-rewriter.ts';

/** What the sides of a relay speak, and what the sink takes. */
export interface RelayTerms {
  readonly source: 4 | 5;
  readonly sink: 4 | 5;
  readonly limits: BrokerLimits;
  /** How many messages the sink takes at once: of QoS 2, and of QoS 1 too where it speaks MQTT 5. */
  readonly window: number;
  /** Through how many repeaters a message may come, where both sides speak MQTT 5. */
  readonly maxHops: number;
  /** For how many of them this relay counts; 1 when left out. */
  readonly hop?: 0 | 1;
}

/** How a relay is set up. */
export interface RelayOptions {
  readonly map: RouteMap;
  readonly terms: RelayTerms;
  /** The largest frame that is taken from the source, in bytes: a larger message is dropped, and acknowledged. */
  readonly maxBytes: number;
  /** Frames of the source that are no messages (SUBACK, PINGRESP, …), and frames of the sink that are no acknowledgements. */
  readonly fromSource: FrameVisitor;
  readonly fromSink: FrameVisitor;
}

/** A running relay. */
export interface Relay {
  readonly reroute: (map: RouteMap) => void;
  readonly toSource: (frame: Buffer) => void;
  readonly toSink: (frame: Buffer) => void;
  readonly messages: () => number;
  /** Messages that the sink was to acknowledge, and those that it has. */
  readonly sent: () => number;
  readonly confirmed: () => number;
  /** How often the source has said something. */
  readonly chunks: () => number;
  readonly end: (error: Error | null) => void;
  /** Resolves when either side has ended, with why. */
  readonly ended: Promise<Error | null>;
}

/** The largest frame of a sink: it has nothing to say beyond acknowledgements and what a canary brings back. */
const maxSinkBytes = 64 * 1024;

/** What messages and acknowledgements go through: as they stand where both sides speak 3.1.1 and the sink takes them all. */
const waysOf = ({ map, terms, fromSink }: RelayOptions): { rewriter: PublishRewriter; acks: AckFilter } => {
  const { source, sink, limits } = terms;
  const window = publishWindow(terms.window, sink === 5 ? 1 : 2);
  if (source === 4 && sink === 4 && !isNarrow(limits)) {
    const rewriter = publishRewriter(map, window);
    return { rewriter, acks: ackFilter(maxSinkBytes, { completed: rewriter.completed, other: fromSink }) };
  }
  const rewriter = messageRewriter(map, { ...terms, window });
  const { acknowledged } = rewriter;
  return { rewriter, acks: messageAcks(maxSinkBytes, { version: sink, acknowledged, other: fromSink }) };
};

/**
 * Joins two connected MQTT streams: publishes of the source go to the sink under their mapped topics, one write a chunk;
 * acknowledgements of the sink go back with their packet ids. So the source is acknowledged only when the sink has
 * acknowledged, and a side that is slow holds the other up. Ends both when one ends.
 */
export const relay = (source: Duplex, sink: Duplex, options: RelayOptions): Relay => {
  const { fromSource } = options;
  const { rewriter, acks } = waysOf(options);
  const cut = frameCutter({ maxBytes: options.maxBytes, tooLarge: rewriter.tooLarge });
  let chunks = 0;
  let finish: (error: Error | null) => void = () => undefined;
  const ended = new Promise<Error | null>((resolve) => {
    finish = resolve;
  });
  const end = (error: Error | null): void => {
    source.destroy();
    sink.destroy();
    finish(error);
  };

  const visit: FrameVisitor = (buffer, start, body, frameEnd) => {
    const type = (buffer[start] ?? 0) >> 4;
    if (type === packetType.publish || type === packetType.pubrel) rewriter.frame(buffer, start, body, frameEnd);
    else fromSource(buffer, start, body, frameEnd);
  };
  /** How many writes a side is held up by. */
  const holds = new Map<Duplex, number>();
  /** Writes, and stops reading `from` until `to` has taken it. */
  const pass = (from: Duplex, to: Duplex, chunk: Buffer): void => {
    if (to.write(chunk)) return;
    holds.set(from, (holds.get(from) ?? 0) + 1);
    from.pause();
    to.once('drain', () => {
      const left = (holds.get(from) ?? 1) - 1;
      holds.set(from, left);
      if (left === 0) from.resume();
    });
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
      chunks += 1;
      cut(chunk, visit);
      const { forward, back } = rewriter.take();
      if (back !== null) pass(source, source, back);
      if (forward !== null) pass(source, sink, forward);
    }),
  );
  sink.on(
    'data',
    guarded((chunk) => {
      const back = acks.chunk(chunk);
      if (back !== null) pass(sink, source, back);
      const { forward } = rewriter.take();
      if (forward !== null) pass(source, sink, forward);
    }),
  );
  for (const side of [source, sink]) {
    side.on('error', end);
    side.on('close', () => end(null));
    // Also where it was paused before.
    side.resume();
  }
  return {
    reroute: rewriter.reroute,
    toSource: (frame) => void source.write(frame),
    toSink: (frame) => void sink.write(frame),
    messages: rewriter.messages,
    sent: rewriter.sent,
    confirmed: acks.confirmed,
    chunks: () => chunks,
    end,
    ended,
  };
};
