/// <reference lib="es2024.string" />

/**
 * Go texts are bytes. A text is kept as a JavaScript string; a byte that is part of no valid UTF-8 sequence is kept as a
 * lone low surrogate U+DC80–U+DCFF, so that cutting a character in two and joining the halves again loses nothing.
 */

const ASCII = /^[\0-\x7f]*$/;
const encoder = new TextEncoder();

const isAscii = (text: string): boolean => ASCII.test(text);

/** Whether a text has no lone surrogates, raw bytes included. */
export const isWellFormed = (text: string): boolean => text.isWellFormed();

/** A text with U+FFFD for each lone surrogate. */
export const wellFormed = (text: string): string => text.toWellFormed();

const isRawByte = (unit: number): boolean => unit >= 0xdc80 && unit <= 0xdcff;

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;

const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** Length in bytes, as Go's `len`. */
export const byteLength = (text: string): number => {
  if (isAscii(text)) {
    return text.length;
  }
  let bytes = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) {
      bytes += 1;
    } else if (unit < 0x800) {
      bytes += 2;
    } else if (isHigh(unit) && isLow(text.charCodeAt(i + 1))) {
      bytes += 4;
      i++;
    } else {
      bytes += isRawByte(unit) ? 1 : 3;
    }
  }
  return bytes;
};

/** The bytes of a text; raw bytes come out as they went in. */
export const toBytes = (text: string): Uint8Array => {
  if (isWellFormed(text)) {
    return encoder.encode(text);
  }
  const out: number[] = [];
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (isRawByte(unit)) {
      out.push(unit - 0xdc00);
      continue;
    }
    const pair = isHigh(unit) && isLow(text.charCodeAt(i + 1));
    for (const byte of encoder.encode(pair ? text.slice(i, i + 2) : text.charAt(i))) {
      out.push(byte);
    }
    i += pair ? 1 : 0;
  }
  return Uint8Array.from(out);
};

/** Length of the valid UTF-8 sequence that begins at `at`, or 0. */
const sequenceLength = (bytes: Uint8Array, at: number): number => {
  const first = bytes[at] ?? 0;
  if (first < 0x80) {
    return 1;
  }
  const length =
    first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xf0 && first < 0xf5 ? 4 : 0;
  for (let i = 1; i < length; i++) {
    const next = bytes[at + i] ?? 0;
    const low = i > 1 ? 0x80 : first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
    const high = i > 1 ? 0xbf : first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
    if (next < low || next > high) {
      return 0;
    }
  }
  return length;
};

const codePointAt = (bytes: Uint8Array, at: number, length: number): number => {
  const first = bytes[at] ?? 0;
  let code = length === 1 ? first : first & (0xff >> (length + 1));
  for (let i = 1; i < length; i++) {
    code = (code << 6) | ((bytes[at + i] ?? 0) & 0x3f);
  }
  return code;
};

const decode = (bytes: Uint8Array, invalid: (byte: number) => string): string => {
  let out = '';
  for (let i = 0; i < bytes.length; ) {
    const length = sequenceLength(bytes, i);
    out += length === 0 ? invalid(bytes[i] ?? 0) : String.fromCodePoint(codePointAt(bytes, i, length));
    i += Math.max(1, length);
  }
  return out;
};

/** The text of some bytes; invalid bytes are kept as raw bytes. */
export const fromBytes = (bytes: Uint8Array): string => decode(bytes, (byte) => String.fromCharCode(0xdc00 + byte));

/** `text[from:to]` in bytes; the caller has checked the bounds. */
export const byteSlice = (text: string, from: number, to: number): string =>
  isAscii(text) ? text.slice(from, to) : fromBytes(toBytes(text).subarray(from, to));

/** A text as it leaves the language: raw bytes that now form characters become them, the others become U+FFFD. */
export const settle = (text: string): string => (isWellFormed(text) ? text : decode(toBytes(text), () => '\ufffd'));

/** The characters of a text as Go's `range` gives them; a raw byte is a character of its own. */
export const runes = (text: string): string[] => Array.from(text);

/** The number of characters. */
export const runeCount = (text: string): number => {
  if (isAscii(text)) {
    return text.length;
  }
  let count = 0;
  for (const _ of text) {
    count++;
  }
  return count;
};

const order = (unit: number): number => (unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit);

/** Compares two texts by their bytes, as Go does. */
export const compareText = (a: string, b: string): number => {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) {
      return order(x) - order(y);
    }
  }
  return a.length - b.length;
};
