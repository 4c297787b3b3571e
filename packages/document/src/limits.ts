/** What a text may cost. */
export interface Limits {
  /** Bytes of UTF-8, before and after rendering. */
  readonly bytes: number;
  /** Lists and maps inside each other, aliases expanded. */
  readonly depth: number;
  /** Values that aliases and merge keys may add to one text (a "billion laughs" text stops here). */
  readonly aliasedValues: number;
  readonly documents: number;
}

export const defaultLimits: Limits = {
  bytes: 4 * 1024 * 1024,
  depth: 100,
  aliasedValues: 100_000,
  documents: 1_000,
};
