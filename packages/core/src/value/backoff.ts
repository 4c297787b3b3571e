/** The bounds of a wait between attempts, in ms. */
export interface BackoffOptions {
  /** The shortest wait. Default 1 s (Law 9). */
  readonly baseMs?: number;
  /** The longest wait. Default 5 min (Law 9). */
  readonly maxMs?: number;
  /** Growth from one failure to the next. Default 2. */
  readonly factor?: number;
  /** The part of a wait by which it is lengthened at random, 0 … 1. Default 0.25. */
  readonly jitter?: number;
}

const defaults = { baseMs: 1_000, maxMs: 300_000, factor: 2, jitter: 0.25 };

/**
 * The wait in ms after the `failures`-th failure in a row (from 1): grows by `factor`, is lengthened by up to `jitter`
 * of itself, and always lies within base and max. It stays spread at the longest wait too (Law 9).
 */
export const exponentialBackoff = (failures: number, random: () => number, options: BackoffOptions = {}): number => {
  const { baseMs, maxMs, factor, jitter } = { ...defaults, ...options };
  const plainMs = Math.min(baseMs * factor ** (Math.max(1, failures) - 1), maxMs / (1 + jitter));
  return Math.min(maxMs, Math.max(baseMs, plainMs) * (1 + jitter * random()));
};

/**
 * The wait in ms before the next reconnect, drawn between base and three times the wait before (decorrelated jitter):
 * clients that lost one broker together do not come back together. Give 0 as `previousMs` after a connection.
 */
export const decorrelatedBackoff = (
  previousMs: number,
  random: () => number,
  options: Pick<BackoffOptions, 'baseMs' | 'maxMs'> = {},
): number => {
  const { baseMs, maxMs } = { ...defaults, ...options };
  const upToMs = Math.max(previousMs, baseMs) * 3;
  return Math.min(maxMs, baseMs + random() * (upToMs - baseMs));
};

/** The failures of one item in a row, and the time in ms before which it is left alone. */
export interface BackoffEntry {
  readonly failures: number;
  readonly notBefore: number;
}

/** Failing items by key; an item that is not in it is due. Plain data, never changed in place. */
export type BackoffTable = ReadonlyMap<string, BackoffEntry>;

/** A failure now of each of `keys`: one more in a row, and a wait of its own. One copy per call: give a whole cycle. */
export const recordFailures = (
  table: BackoffTable,
  keys: Iterable<string>,
  at: { readonly now: number; readonly random: () => number; readonly options?: BackoffOptions },
): BackoffTable => {
  const next = new Map(table);
  for (const key of keys) {
    const failures = (next.get(key)?.failures ?? 0) + 1;
    next.set(key, { failures, notBefore: at.now + exponentialBackoff(failures, at.random, at.options) });
  }
  return next;
};

/** A success of each of `keys`: their failures are forgotten. */
export const recordSuccesses = (table: BackoffTable, keys: Iterable<string>): BackoffTable => {
  const next = new Map(table);
  for (const key of keys) next.delete(key);
  return next;
};

/** The table without the items that are no longer planned, which would be retried by nobody. */
export const retainKeys = (table: BackoffTable, keys: ReadonlySet<string>): BackoffTable =>
  new Map([...table].filter(([key]) => keys.has(key)));

/** Whether the item may be tried at `now`. */
export const isDue = (table: BackoffTable, key: string, now: number): boolean =>
  (table.get(key)?.notBefore ?? now) <= now;

/** When the first failing item is due, in ms; undefined when nothing fails. */
export const earliestDue = (table: BackoffTable): number | undefined => {
  let earliest: number | undefined;
  for (const { notBefore } of table.values()) {
    if (earliest === undefined || notBefore < earliest) earliest = notBefore;
  }
  return earliest;
};
