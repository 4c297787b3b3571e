import { compareUtf8 } from '../value/canonical.ts';
import type { DesiredEntry } from './entry.ts';

/** The entries of a source by key; each key has one row, `wants[row]`. Bad ones are set aside, never dropped (Law 5). */
export interface IndexedSource {
  readonly wants: readonly DesiredEntry[];
  readonly rowOf: ReadonlyMap<string, number>;
  /** Entries without a key. */
  readonly unknown: readonly DesiredEntry[];
  /** Entries whose key a smaller id has too (EI-E10). */
  readonly losers: readonly { readonly entry: DesiredEntry; readonly row: number }[];
}

/** Indexes a source; of several entries with one key the smallest id has it, whatever the input order (EI-E10). */
export const indexSource = (entries: readonly DesiredEntry[]): IndexedSource => {
  const wants: DesiredEntry[] = [];
  const rowOf = new Map<string, number>();
  const unknown: DesiredEntry[] = [];
  const losers: { entry: DesiredEntry; row: number }[] = [];
  let hasTwins = false;
  for (const entry of entries) {
    if (entry.key.kind === 'unknown') {
      unknown.push(entry);
      continue;
    }
    const key = entry.key.value;
    if (!hasTwins) {
      // Setting without asking first halves the look-ups; the one entry that shows a twin is repaired.
      rowOf.set(key, wants.length);
      if (rowOf.size > wants.length) {
        wants.push(entry);
        continue;
      }
      hasTwins = true;
      rowOf.set(
        key,
        wants.findIndex((other) => other.key.kind === 'known' && other.key.value === key),
      );
    }
    const row = rowOf.get(key);
    const holder = row === undefined ? undefined : wants[row];
    if (row === undefined || holder === undefined) {
      rowOf.set(key, wants.length);
      wants.push(entry);
    } else if (compareUtf8(entry.id, holder.id) < 0) {
      wants[row] = entry;
      losers.push({ entry: holder, row });
    } else {
      losers.push({ entry, row });
    }
  }
  return { wants, rowOf, unknown, losers };
};
