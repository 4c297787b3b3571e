/** Collects bytes for one write. */
export interface FrameWriter {
  /** Makes room for `bytes` more and gives the buffer to write to. */
  readonly reserve: (bytes: number) => Buffer;
  /** Where the next byte goes. */
  readonly at: () => number;
  /** Says up to where was written. */
  readonly advance: (to: number) => void;
  readonly append: (from: Buffer, start: number, end: number) => void;
  /** Takes the last `bytes` back out, as a copy. */
  readonly cut: (bytes: number) => Buffer;
  /** What was collected, and begins anew; null when nothing was. */
  readonly take: () => Buffer | null;
}

const smallest = 64 * 1024;

/** An empty writer. The buffer it hands out is the caller's: it is not used again. */
export const frameWriter = (): FrameWriter => {
  let out = Buffer.allocUnsafeSlow(smallest);
  let begin = 0;
  let place = 0;

  const reserve = (bytes: number): Buffer => {
    if (place + bytes > out.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(smallest, 2 * (place - begin + bytes)));
      out.copy(grown, 0, begin, place);
      place -= begin;
      begin = 0;
      out = grown;
    }
    return out;
  };

  return {
    reserve,
    at: () => place,
    advance: (to) => {
      place = to;
    },
    append: (from, start, end) => {
      reserve(end - start);
      from.copy(out, place, start, end);
      place += end - start;
    },
    cut: (bytes) => {
      place -= bytes;
      return Buffer.from(out.subarray(place, place + bytes));
    },
    take: () => {
      if (place === begin) return null;
      const taken = out.subarray(begin, place);
      begin = place;
      return taken;
    },
  };
};
