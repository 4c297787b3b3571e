/** Base64 and base32 with padding, and the errors that Go's encoding packages give. */

type Bits = 5 | 6;

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

const corrupt = (bits: Bits, at: number): string => `illegal base${2 ** bits} data at input byte ${at}`;

/** How many digits a last group may have, padding left out. */
const LAST_DIGITS: Readonly<Record<Bits, readonly number[]>> = { 5: [2, 4, 5, 7], 6: [2, 3] };

interface Digits {
  readonly values: number[];
  /** Offset in the text of each digit. */
  readonly places: number[];
}

/** Reads the digits up to the padding and checks the padding; a text is the complaint. */
const readDigits = (bits: Bits, text: string): Digits | string => {
  const alphabet = ALPHABET[bits];
  const digits: Digits = { values: [], places: [] };
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i);
    if (char === '\n' || char === '\r') {
      continue;
    }
    if (char === '=') {
      return checkPadding(bits, text, i, digits);
    }
    const value = alphabet.indexOf(char);
    if (value < 0) {
      return corrupt(bits, i);
    }
    digits.values.push(value);
    digits.places.push(i);
  }
  const over = digits.values.length % GROUP[bits];
  return over === 0 ? digits : corrupt(bits, bits === 6 ? text.length - over : text.length);
};

const checkPadding = (bits: Bits, text: string, at: number, digits: Digits): Digits | string => {
  const over = digits.values.length % GROUP[bits];
  if (!LAST_DIGITS[bits].includes(over)) {
    return corrupt(bits, at);
  }
  let wanted = GROUP[bits] - over;
  for (let i = at; i < text.length; i++) {
    const char = text.charAt(i);
    if (char !== '\n' && char !== '\r' && (char !== '=' || wanted-- === 0)) {
      return corrupt(bits, i);
    }
  }
  return wanted === 0 ? digits : corrupt(bits, text.length);
};

/** The bytes that a text stands for, or the sentence about what is wrong with it. */
export const decodeBase = (bits: Bits, text: string): Uint8Array | string => {
  const digits = readDigits(bits, text);
  if (typeof digits === 'string') {
    return digits;
  }
  const out: number[] = [];
  let held = 0;
  let count = 0;
  for (const value of digits.values) {
    held = ((held << bits) | value) & 0xffff;
    count += bits;
    if (count >= 8) {
      count -= 8;
      out.push((held >> count) & 0xff);
    }
  }
  return Uint8Array.from(out);
};
