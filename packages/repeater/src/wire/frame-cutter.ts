import { AppError } from '@infrakit/core';
import { packetType } from './mqtt-frame.ts';

/** Is told of each whole frame: header from `start`, body from `body`, next frame at `end`. */
export type FrameVisitor = (buffer: Buffer, start: number, body: number, end: number) => void;

/** What a cutter is told about what it may not take as a whole. */
export interface CutterOptions {
  /** The largest frame, in bytes. */
  readonly maxBytes: number;
  /**
   * Gets the head of a PUBLISH that is larger, up to and with its packet id; the rest is passed over. Where it is left out,
   * and for every other packet, such a frame ends the stream.
   */
  readonly tooLarge?: FrameVisitor;
}

/** Cuts a byte stream into MQTT frames. What is not whole yet waits for the next chunk. */
export type FrameCutter = (chunk: Buffer, visit: FrameVisitor) => void;

/** The broker sent what is no MQTT. */
export const malformed = (what: string): AppError =>
  new AppError('BUS_REFUSED', `the broker sent what is no MQTT: ${what}`);

/**
 * A cutter for one connection. A frame that is too large and a length that is none are errors (`PAYLOAD_TOO_LARGE`,
 * `BUS_REFUSED`): the stream cannot be followed any further. Chunks of a large frame are put together once, when the last of
 * them is there.
 */
export const frameCutter = ({ maxBytes, tooLarge }: CutterOptions): FrameCutter => {
  let parts: Buffer[] = [];
  let have = 0;
  let need = 0;
  /** Bytes of a frame that is too large which are still to come. */
  let passOver = 0;

  /** Where the head of a too large PUBLISH ends; how many bytes it takes to tell, while they are not there. */
  const headOf = (buffer: Buffer, place: number): { readonly end: number } | { readonly needsUpTo: number } => {
    if (place + 2 > buffer.length) return { needsUpTo: place + 2 };
    const end = place + 2 + buffer.readUInt16BE(place) + 2;
    return end > buffer.length ? { needsUpTo: end } : { end };
  };

  return (whole, visit) => {
    let chunk = whole;
    if (passOver > 0) {
      const passed = Math.min(passOver, chunk.length);
      passOver -= passed;
      if (passed === chunk.length) return;
      chunk = chunk.subarray(passed);
    }
    let buffer = chunk;
    if (have > 0) {
      parts.push(chunk);
      have += chunk.length;
      if (have < need) return;
      buffer = Buffer.concat(parts, have);
      parts = [];
      have = 0;
    }
    const { length } = buffer;
    let start = 0;
    need = 2;
    while (start + 2 <= length) {
      let place = start + 1;
      let remaining = 0;
      let shift = 0;
      let byte = 128;
      while (place < length && byte > 127) {
        byte = buffer[place] ?? 0;
        remaining |= (byte & 127) << shift;
        shift += 7;
        place += 1;
        if (shift === 28 && byte > 127) throw malformed('a length of more than four bytes [MQTT-2.2.3]');
      }
      if (byte > 127) {
        need = length - start + 1;
        break;
      }
      const end = place + remaining;
      if (end - start > maxBytes) {
        if (tooLarge === undefined || (buffer[start] ?? 0) >> 4 !== packetType.publish) {
          throw new AppError(
            'PAYLOAD_TOO_LARGE',
            `a packet of ${end - start} bytes is more than the ${maxBytes} allowed`,
          );
        }
        const head = headOf(buffer, place);
        if ('needsUpTo' in head) {
          need = head.needsUpTo - start;
          break;
        }
        if (head.end > end) throw malformed('a topic that is longer than its packet [MQTT-3.3.2-1]');
        tooLarge(buffer, start, place, head.end);
        passOver = Math.max(0, end - length);
        start = Math.min(end, length);
        continue;
      }
      if (end > length) {
        need = end - start;
        break;
      }
      visit(buffer, start, place, end);
      start = end;
      need = 2;
    }
    if (start < length) {
      // Copied, so that a small rest does not keep a large chunk alive.
      parts = [start === 0 ? buffer : Buffer.from(buffer.subarray(start))];
      have = length - start;
    }
  };
};
