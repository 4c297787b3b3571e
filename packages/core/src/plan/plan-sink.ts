import { compareUtf8 } from '../value/canonical.ts';
import type { ObservedEntry, Ownership } from './entry.ts';
import type { IndexedSource } from './plan-source.ts';

/** The entries of a sink, sorted out: ownership first, then keys, compared only within our own (Law 4). */
export interface IndexedSink {
  /** Who fills a row of the source; of several, ours first, then the wanted content, the oldest, the smallest id (EI-E10). */
  readonly holders: readonly (ObservedEntry | undefined)[];
  readonly surplus: readonly { readonly entry: ObservedEntry; readonly key: string; readonly row: number }[];
  /** Ours, with a key that the source does not want. */
  readonly unmatched: readonly ObservedEntry[];
  /** Ours, with an unknown key. */
  readonly unreadable: readonly { readonly entry: ObservedEntry; readonly reason: string }[];
  readonly foreign: readonly ObservedEntry[];
}

/** Whether an entry may be destroyed once nobody wants it (Law 4). */
export const mayDestroy = (ownership: Ownership): boolean => {
  switch (ownership.kind) {
    case 'ours':
      return true;
    case 'named':
      return ownership.judged;
    case 'untagged':
      return ownership.adopted || ownership.destroyable;
    case 'foreign':
      return false;
    default:
      return ownership satisfies never;
  }
};

const ownershipRank = { ours: 0, named: 1, untagged: 2, foreign: 3 } as const satisfies Record<
  Ownership['kind'],
  number
>;

/** The rank of an entry among those with its key: ours before others, then what has the wanted content, then the oldest. */
const rankOf = ({ ownership, content, createdMs }: ObservedEntry, wanted: string | undefined): number[] => [
  ownershipRank[ownership.kind],
  wanted === undefined || content === undefined || content === wanted ? 0 : 1,
  // Entries that tell no age come behind those that do, so that the order is total whatever is mixed.
  createdMs ?? Number.POSITIVE_INFINITY,
];

const precedes = (left: ObservedEntry, right: ObservedEntry, wanted: string | undefined): boolean => {
  const [a, b] = [rankOf(left, wanted), rankOf(right, wanted)];
  const place = a.findIndex((rank, index) => rank !== b[index]);
  return place < 0 ? compareUtf8(left.id, right.id) < 0 : (a[place] ?? 0) < (b[place] ?? 0);
};

/**
 * Sorts out what a sink shows. `destroying` ids are left out altogether. An untagged entry without a key is foreign; only
 * where `isUntaggedBroken` (the old `DisableProvision`, EI §1.8) and it may be destroyed is it one of ours that is unreadable.
 */
export const indexSink = (
  observed: readonly ObservedEntry[],
  { rowOf, wants }: Pick<IndexedSource, 'rowOf' | 'wants'>,
  options: { readonly destroying?: ReadonlySet<string> | undefined; readonly isUntaggedBroken: boolean },
): IndexedSink => {
  const holders: (ObservedEntry | undefined)[] = new Array(rowOf.size).fill(undefined);
  const surplus: { entry: ObservedEntry; key: string; row: number }[] = [];
  const unmatched: ObservedEntry[] = [];
  const unreadable: { entry: ObservedEntry; reason: string }[] = [];
  const foreign: ObservedEntry[] = [];
  for (const entry of observed) {
    if (options.destroying?.has(entry.id)) continue;
    const { ownership, key } = entry;
    if (ownership.kind === 'foreign') {
      foreign.push(entry);
    } else if (key.kind === 'unknown') {
      if (ownership.kind !== 'untagged' || (options.isUntaggedBroken && mayDestroy(ownership))) {
        unreadable.push({ entry, reason: key.reason });
      } else foreign.push(entry);
    } else {
      const row = rowOf.get(key.value);
      if (row === undefined) {
        unmatched.push(entry);
        continue;
      }
      const holder = holders[row];
      if (holder === undefined) holders[row] = entry;
      else if (precedes(entry, holder, wants[row]?.content)) {
        holders[row] = entry;
        surplus.push({ entry: holder, key: key.value, row });
      } else surplus.push({ entry, key: key.value, row });
    }
  }
  return { holders, surplus, unmatched, unreadable, foreign };
};
