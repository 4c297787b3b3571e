import { type FrameVisitor, frameCutter, malformed } from './frame-cutter.ts';
import { frameWriter } from './frame-writer.ts';
import { packetType } from './mqtt-frame.ts';

/** What a chunk from a sink holds for the source. */
export interface AckFilter {
  /** The acknowledgements of a chunk, in one buffer; null for none. */
  readonly chunk: (chunk: Buffer) => Buffer | null;
  /** Messages whose delivery the sink has confirmed so far. */
  readonly confirmed: () => number;
}

const isAck = (type: number): boolean => type >= packetType.puback && type <= packetType.pubcomp;

/** Passes acknowledgements on as they are; everything else (PINGRESP, …) goes to `other`, the ids of completed QoS 2 messages to `completed`. */
export const ackFilter = (
  maxBytes: number,
  tell: { readonly completed: (id: number) => void; readonly other: FrameVisitor },
): AckFilter => {
  const cut = frameCutter({ maxBytes });
  const out = frameWriter();
  let confirmed = 0;
  const visit: FrameVisitor = (buffer, start, body, end) => {
    const type = (buffer[start] ?? 0) >> 4;
    if (!isAck(type)) return tell.other(buffer, start, body, end);
    // A PUBREL would be for messages from the sink, and there are none that need one.
    if (type === packetType.pubrel) return;
    if (end - body !== 2) throw malformed('an acknowledgement of another length [MQTT-3.4.1]');
    if (type !== packetType.pubrec) confirmed += 1;
    if (type === packetType.pubcomp) tell.completed(buffer.readUInt16BE(body));
    out.append(buffer, start, end);
  };
  return {
    chunk: (chunk) => {
      cut(chunk, visit);
      return out.take();
    },
    confirmed: () => confirmed,
  };
};
