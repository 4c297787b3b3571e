/** A source of randomness: uniform in [0, 1). */
export type Random = () => number;

/** The process's own randomness. */
export const systemRandom: Random = Math.random;

/** A repeatable sequence (mulberry32) for tests and chaos runs: the same 32-bit seed gives the same numbers. */
export const seededRandom = (seed: number): Random => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};
