import type { Departure, Key } from '@infrakit/core';
import type { Source } from '@infrakit/runtime';

/** A member of a source: `key` null cannot be computed; left out it is the id. */
export interface Item {
  readonly id: string;
  readonly key?: string | null;
  readonly content?: string;
}

/** The key of an item, as a selector would give it. */
export const keyOfItem = (item: Item): Key =>
  item.key === null
    ? { kind: 'unknown', reason: `no key for ${item.id}` }
    : { kind: 'known', value: item.key ?? item.id };

const ids = (names: readonly string[]): Item[] => names.map((id) => ({ id }));

/** `count` items named `<prefix>1` …, all of them of width 5 so that they sort. */
export const items = (count: number, prefix = 'h'): Item[] =>
  ids(Array.from({ length: count }, (_, n) => `${prefix}${String(n + 1).padStart(5, '0')}`));

/** A source known as a whole: a group that wants as many as it has, unless told otherwise. */
export const known = (
  members: readonly Item[],
  facts: Partial<Extract<Source<Item>, { kind: 'known' }>> = {},
): Source<Item> => ({
  kind: 'known',
  items: members,
  count: members.length,
  target: members.length,
  ...facts,
});

/** Departures of these ids, for a cause that explains their going. */
export const departed = (names: readonly string[], cause: Departure['Cause'] = 'scale', revision = 1): Departure[] =>
  names.map((ID) => ({ ID, Cause: cause, Revision: revision }));
