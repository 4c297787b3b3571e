import { AppError } from '@infrakit/core';

/** The packet types of MQTT 3.1.1 that cross a mirror [MQTT-2.2.1]. */
export const packetType = {
  connack: 2,
  publish: 3,
  puback: 4,
  pubrec: 5,
  pubrel: 6,
  pubcomp: 7,
  suback: 9,
  unsuback: 11,
  pingresp: 13,
  disconnect: 14,
} as const;

/** A bare acknowledgement: two bytes of header, the packet id [MQTT-3.4.1]. */
export const ackFrame = (firstByte: number, id: number): Buffer => Buffer.from([firstByte, 2, id >> 8, id & 0xff]);

/** PINGREQ [MQTT-3.12.1]. */
export const pingFrame = Buffer.from([0xc0, 0]);

/** DISCONNECT [MQTT-3.14.1]. */
export const disconnectFrame = Buffer.from([0xe0, 0]);

/** The most bytes of a header: one of type and flags, four of remaining length [MQTT-2.2.3]. */
export const maxHeaderBytes = 5;

/** Writes a remaining length at `at` and gives the place behind it [MQTT-2.2.3]. */
export const writeLength = (out: Uint8Array, at: number, length: number): number => {
  let left = length;
  let place = at;
  while (left > 127) {
    out[place] = (left & 127) | 128;
    place += 1;
    left >>>= 7;
  }
  out[place] = left;
  return place + 1;
};

/** Reads a length of up to four bytes at `at`; `behind` is the place behind it. `BUS_REFUSED` where there is none before `end`. */
export const readLength = (
  buffer: Buffer,
  at: number,
  end: number,
): { readonly length: number; readonly behind: number } => {
  let length = 0;
  for (let place = at; place < Math.min(at + 4, end); place += 1) {
    const byte = buffer[place] ?? 0;
    length |= (byte & 127) << (7 * (place - at));
    if (byte < 128) return { length, behind: place + 1 };
  }
  throw new AppError('BUS_REFUSED', 'the broker sent what is no MQTT: a length of more than four bytes [MQTT-2.2.3]');
};
