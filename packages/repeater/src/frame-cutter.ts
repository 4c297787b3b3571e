import { AppError } from '@infrakit/core';

/** Is told of each whole frame: header from `start`, body from `body`, next frame at `end`. */
export type FrameVisitor = (buffer: Buffer, start: number, body: number, end: number) => void;

/** Cuts a byte stream into MQTT frames. What is not whole yet waits for the next chunk. */
export type FrameCutter = (chunk: Buffer, visit: FrameVisitor) => void;

const malformed = (what: string): AppError => new AppError('BUS_REFUSED', `the broker sent what is no MQTT: ${what}`);

/**
 * A cutter for one connection. A frame that does not fit into `maxBytes`, or a length that is none, is an error
 * (`PAYLOAD_TOO_LARGE`, `BUS_REFUSED`): the stream cannot be followed any further. Chunks of a large frame are put together
 * once, when the last of them is there.
 */
export const frameCutter = (maxBytes: number): FrameCutter => {
  let parts: Buffer[] = [];
  let have = 0;
  let need = 0;

  return (chunk, visit) => {
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
        if (shift > 28) throw malformed('a length of more than four bytes [MQTT-2.2.3]');
      }
      if (byte > 127) {
        need = length - start + 1;
        break;
      }
      const end = place + remaining;
      if (end - start > maxBytes) {
        throw new AppError('PAYLOAD_TOO_LARGE', `a frame of ${end - start} bytes is more than the ${maxBytes} allowed`);
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
