/**
 * Calls `call` for each item, at most `limit` (≥ 1) at once, and answers how each ended, in the order of the items.
 * Never rejects: one bad item does not stop the others (Law 5, Law 9).
 */
export const mapBounded = async <T, R>(
  items: readonly T[],
  limit: number,
  call: (item: T, index: number) => Promise<R>,
): Promise<PromiseSettledResult<R>[]> => {
  const results = new Array<PromiseSettledResult<R>>(items.length);
  const rest = items.entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of rest) {
      try {
        results[index] = { status: 'fulfilled', value: await call(item, index) };
      } catch (reason) {
        results[index] = { status: 'rejected', reason };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(limit, items.length)) }, work));
  return results;
};
