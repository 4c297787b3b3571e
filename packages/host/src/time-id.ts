/** Random bytes, as many as asked for. */
export type RandomBytes = (count: number) => Uint8Array;

const [timeDigits, countDigits, randomDigits, radix] = [9, 3, 8, 32];
const perMs = radix ** countDigits;

/**
 * Makes ids that sort by time: milliseconds, a count within one of them, and 40 random bits, in the digits 0–9a–v.
 * Of one maker each is above the one before, whatever the clock does.
 */
export const timeIds = (nowMs: () => number, randomBytes: RandomBytes): (() => string) => {
  let lastMs = 0;
  let count = 0;
  const digits = (value: number, length: number): string => value.toString(radix).padStart(length, '0');
  return () => {
    const now = Math.floor(nowMs());
    if (now > lastMs) [lastMs, count] = [now, 0];
    else if (count + 1 < perMs) count += 1;
    else [lastMs, count] = [lastMs + 1, 0];
    const random = [...randomBytes(randomDigits)].map((byte) => (byte % radix).toString(radix)).join('');
    return `${digits(lastMs, timeDigits)}${digits(count, countDigits)}${random}`;
  };
};
