import { corrupt, digitValue, packDigits } from './base-encoding.ts';

/** Bytes, or the sentence about what is wrong, with the place that Go's encoding packages name. */
export type Decoded = Uint8Array | string;

const PAD = 0x3d;

const isNewline = (byte: number | undefined): boolean => byte === 0x0a || byte === 0x0d;

const skipNewlines = (bytes: Uint8Array, at: number): number => {
  let next = at;
  while (isNewline(bytes[next])) {
    next++;
  }
  return next;
};

/** What follows the first `=`, at `at`, behind `count` digits of the last group; a number is the place of an error. */
const base64Padding = (bytes: Uint8Array, at: number, count: number): number | undefined => {
  if (count < 2) {
    return at;
  }
  let next = at + 1;
  if (count === 2) {
    next = skipNewlines(bytes, next);
    if (next === bytes.length) {
      return bytes.length;
    }
    if (bytes[next] !== PAD) {
      return next - 1;
    }
    next++;
  }
  next = skipNewlines(bytes, next);
  return next < bytes.length ? next : undefined;
};

export const decodeBase64 = (bytes: Uint8Array): Decoded => {
  const values: number[] = [];
  for (let i = 0; i < bytes.length; i++) {
    const value = digitValue(6, bytes[i]);
    if (value >= 0) {
      values.push(value);
    } else if (bytes[i] === PAD) {
      const problem = base64Padding(bytes, i, values.length % 4);
      return problem === undefined ? packDigits(6, values) : corrupt(6, problem);
    } else if (!isNewline(bytes[i])) {
      return corrupt(6, i);
    }
  }
  const over = values.length % 4;
  return over === 0 ? packDigits(6, values) : corrupt(6, bytes.length - over);
};

/** As for base64; where the first `=` counts as padding at all is decided before. */
const base32Padding = (bytes: Uint8Array, at: number, count: number): number | undefined => {
  const rest = bytes.length - at - 1;
  if (rest + count < 7) {
    return bytes.length;
  }
  for (let k = 0; k < 7 - count; k++) {
    if (rest > k && bytes[at + 1 + k] !== PAD) {
      return at + k;
    }
  }
  return count === 3 || count === 6 ? at : undefined;
};

/** New lines are left out beforehand; what follows a padded group is not looked at. */
export const decodeBase32 = (text: Uint8Array): Decoded => {
  const bytes = text.filter((byte) => !isNewline(byte));
  const values: number[] = [];
  for (let i = 0; i < bytes.length; i++) {
    const count = values.length % 8;
    if (bytes[i] === PAD && count >= 2 && bytes.length - i - 1 < 8) {
      const problem = base32Padding(bytes, i, count);
      return problem === undefined ? packDigits(5, values) : corrupt(5, problem);
    }
    const value = digitValue(5, bytes[i]);
    if (value < 0) {
      return corrupt(5, i);
    }
    values.push(value);
  }
  const over = values.length % 8;
  return over === 0 ? packDigits(5, values) : corrupt(5, bytes.length - over);
};
