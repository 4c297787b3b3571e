import { filtersOverlap } from '@infrakit/core';
import type { Flow } from '../wire/flow.ts';

const hasWildcard = (filter: string): boolean => /[+#]/.test(filter);

/**
 * A rank for each rule of a list, so that of two that can want the same topic the first has the lower one (GP-R10). Rules that
 * have nothing in common do not count: inserting one changes the rank of no other.
 */
export const ruleRanks = (rules: readonly (readonly Flow[])[]): number[] => {
  const exact = new Map<string, number>();
  const wild: { readonly flow: Flow; readonly rank: number }[] = [];
  const plain: { readonly flow: Flow; readonly rank: number }[] = [];
  const overlaps = (one: Flow, other: Flow): boolean =>
    one.from.key === other.from.key && filtersOverlap(one.filter, other.filter);
  return rules.map((flows) => {
    let rank = 0;
    for (const flow of flows) {
      // Two filters without wildcards meet only when they are the same.
      const same = hasWildcard(flow.filter) ? undefined : exact.get(`${flow.from.key} ${flow.filter}`);
      if (same !== undefined) rank = Math.max(rank, same + 1);
      for (const other of hasWildcard(flow.filter) ? [...wild, ...plain] : wild) {
        if (other.rank >= rank && overlaps(other.flow, flow)) rank = other.rank + 1;
      }
    }
    for (const flow of flows) {
      (hasWildcard(flow.filter) ? wild : plain).push({ flow, rank });
      if (!hasWildcard(flow.filter)) exact.set(`${flow.from.key} ${flow.filter}`, rank);
    }
    return rank;
  });
};
