/** Counts the messages on a byte stream of MQTT that are sent again: PUBLISH with DUP [MQTT-3.3.1-1]. */
export const sentAgain = (count: () => void): ((chunk: Buffer) => void) => {
  let isInHead = false;
  /** Of the remaining length, as far as it was read; then what is left of the packet. */
  let [length, shift, left] = [0, 0, 0];
  return (chunk) => {
    for (let at = 0; at < chunk.length; ) {
      if (left > 0) {
        const skipped = Math.min(left, chunk.length - at);
        left -= skipped;
        at += skipped;
        continue;
      }
      const byte = chunk[at] ?? 0;
      at += 1;
      if (!isInHead) {
        if (byte >> 4 === publishType && (byte & dupFlag) !== 0) count();
        [isInHead, length, shift] = [true, 0, 0];
        continue;
      }
      length += (byte & 0x7f) * 2 ** shift;
      shift += 7;
      if (byte < 0x80) [isInHead, left] = [false, length];
    }
  };
};

const [publishType, dupFlag] = [3, 0x08];
