import type { AckFilter } from './ack-filter.ts';
import { type FrameVisitor, frameCutter, malformed } from './frame-cutter.ts';
import { frameWriter } from './frame-writer.ts';
import { ackFrame, packetType } from './mqtt-frame.ts';

/** What is done with the frames of a sink. */
export interface MessageAcksDeps {
  readonly version: 4 | 5;
  /** Gives the type of the packet that the source is to get for an acknowledgement. */
  readonly acknowledged: (type: number, id: number, reason: number) => number;
  /** Everything else. */
  readonly other: FrameVisitor;
}

const { puback, pubrec, pubrel, pubcomp } = packetType;

/** Reads the acknowledgements of a sink of either version, and gives those that the source is to get, without reason codes. */
export const messageAcks = (maxBytes: number, { version, acknowledged, other }: MessageAcksDeps): AckFilter => {
  const cut = frameCutter({ maxBytes });
  const out = frameWriter();
  let confirmed = 0;
  const visit: FrameVisitor = (buffer, start, body, end) => {
    const type = (buffer[start] ?? 0) >> 4;
    if (type < puback || type > pubcomp) return other(buffer, start, body, end);
    if (type === pubrel) return;
    const length = end - body;
    if (length < 2 || (version === 4 && length > 2))
      throw malformed('an acknowledgement of another length [MQTT-3.4.1]');
    // Without a reason code it is success [MQTT5-3.4.2.1].
    const reason = length > 2 ? (buffer[body + 2] ?? 0) : 0;
    const id = buffer.readUInt16BE(body);
    if (type !== pubrec || reason >= 0x80) confirmed += 1;
    out.append(ackFrame(acknowledged(type, id, reason) << 4, id), 0, 4);
  };
  return {
    chunk: (chunk) => {
      cut(chunk, visit);
      return out.take();
    },
    confirmed: () => confirmed,
  };
};
