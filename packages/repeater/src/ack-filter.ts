import { frameCutter } from './frame-cutter.ts';
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

/** Passes acknowledgements on as they are and leaves everything else (PINGRESP) behind. */
export const ackFilter = (maxBytes: number): AckFilter => {
  const cut = frameCutter(maxBytes);
  const out = frameWriter();
  let confirmed = 0;
  return {
    chunk: (chunk) => {
      cut(chunk, (buffer, start, _, end) => {
        const type = (buffer[start] ?? 0) >> 4;
        if (!isAck(type)) return;
        if (type === packetType.puback || type === packetType.pubcomp) confirmed += 1;
        out.append(buffer, start, end);
      });
      return out.take();
    },
    confirmed: () => confirmed,
  };
};
