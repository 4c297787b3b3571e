/** Base64 (6 bits a digit) and base32 (5 bits), with padding. */

export type Bits = 5 | 6;

const ALPHABET: Readonly<Record<Bits, string>> = {
  5: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567',
  6: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
};

const GROUP: Readonly<Record<Bits, number>> = { 5: 8, 6: 4 };

export const encodeBase = (bits: Bits, bytes: Uint8Array): string => {
  const alphabet = ALPHABET[bits];
  let out = '';
  let held = 0;
  let count = 0;
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xffff;
    count += 8;
    while (count >= bits) {
      count -= bits;
      out += alphabet.charAt((held >> count) & (2 ** bits - 1));
    }
  }
  if (count > 0) {
    out += alphabet.charAt((held << (bits - count)) & (2 ** bits - 1));
  }
  return out.padEnd(Math.ceil(out.length / GROUP[bits]) * GROUP[bits], '=');
};

/** A decoder's complaint, as Go words it. */
export const corrupt = (bits: Bits, at: number): string => `illegal base${2 ** bits} data at input byte ${at}`;

/** The value of a digit, or −1. */
export const digitValue = (bits: Bits, byte: number | undefined): number =>
  byte === undefined ? -1 : ALPHABET[bits].indexOf(String.fromCharCode(byte));

/** The bytes that digits stand for; bits left over are dropped. */
export const packDigits = (bits: Bits, values: readonly number[]): Uint8Array => {
  const out: number[] = [];
  let held = 0;
  let count = 0;
  for (const value of values) {
    held = ((held << bits) | value) & 0xffff;
    count += bits;
    if (count >= 8) {
      count -= 8;
      out.push((held >> count) & 0xff);
    }
  }
  return Uint8Array.from(out);
};
