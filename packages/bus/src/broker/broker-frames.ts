/** Packet types as in the fixed header [MQTT 2.2.1]. */
export const packetType = { connect: 1, publish: 3, subscribe: 8, unsubscribe: 10, pingreq: 12 } as const;

/** What only a broker sends, and the two types that MQTT 3.1.1 does not have [MQTT 2.2.1]. */
export const notForBrokers: ReadonlySet<number> = new Set([0, 2, 9, 11, 13, 15]);

/** Why a packet is not read, told from its fixed header alone. */
export type FrameFault = 'too-large' | 'too-fast' | 'malformed';

/** Is told of each packet when its fixed header is complete: type, and bytes in all. Its answer, if any, ends the stream. */
export type OnPacket = (type: number, bytes: number) => FrameFault | undefined;

/**
 * Follows the packets of one direction of a connection, chunk by chunk, without holding any bytes, so that a packet is
 * judged before its body is read: MQTT lets a header of five bytes announce 256 MiB [MQTT 2.2.3].
 */
export const frameScanner = (onPacket: OnPacket): ((chunk: Uint8Array) => FrameFault | undefined) => {
  let bodyLeft = 0;
  let type: number | undefined;
  let length = 0;
  let digits = 0;
  return (chunk) => {
    let at = 0;
    while (at < chunk.length) {
      if (bodyLeft > 0) {
        const step = Math.min(bodyLeft, chunk.length - at);
        bodyLeft -= step;
        at += step;
        continue;
      }
      const byte = chunk[at] ?? 0;
      at += 1;
      if (type === undefined) {
        type = byte >> 4;
        length = 0;
        digits = 0;
        continue;
      }
      length += (byte & 0x7f) * 128 ** digits;
      digits += 1;
      if ((byte & 0x80) !== 0) {
        if (digits === 4) return 'malformed';
        continue;
      }
      const fault = onPacket(type, 1 + digits + length);
      if (fault !== undefined) return fault;
      bodyLeft = length;
      type = undefined;
    }
    return undefined;
  };
};
