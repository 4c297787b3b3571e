import {
  type DesiredEntry,
  type InstanceDescription,
  type Key,
  type ObservedEntry,
  ownershipOf,
  reservedTags,
} from '@infrakit/core';
import type { Keyed, Source } from '@infrakit/runtime';
import type { Selector } from './selector.ts';
import type { SourceItem } from './source-item.ts';

/** What the keys and the ownership of both sides depend on, beside what is read. */
export interface KeysFacts {
  readonly owner: string;
  readonly rule: string;
  /** The rule with the lookup of its controller before it, as old name labels may have it (EI-C7). */
  readonly fullName: string;
  readonly sourceKey: Selector;
  /** Null: by the tag `infrakit.enrollment.sourceID`. */
  readonly enrollmentKey: Selector | null;
  readonly allowUntaggedDestroy: boolean;
  readonly isSpecsBack: () => boolean;
  /** The key that an entry was made for, of those that no look has shown with this key yet. */
  readonly madeFor: (id: string) => string | undefined;
}

const tagOf = (tags: InstanceDescription['Tags'], name: string): string | undefined =>
  tags !== null && Object.hasOwn(tags, name) ? tags[name] : undefined;

/** The tags with an old name label in its short form. */
const shortened = (tags: InstanceDescription['Tags'], { rule, fullName }: KeysFacts): InstanceDescription['Tags'] =>
  tagOf(tags, reservedTags.enrollmentName) === fullName ? { ...tags, [reservedTags.enrollmentName]: rule } : tags;

const createdMs = (created: string | undefined): number | undefined => {
  const ms = created === undefined ? Number.NaN : Date.parse(created);
  return Number.isNaN(ms) ? undefined : ms;
};

/**
 * Keys of a source by id, and the key of an entry by the source id in its tags (EI-E9): that of the source entry with this
 * id. An id that no source entry has, or only one without a key, gives a key that no source entry has, so that it is for the
 * plan to say whether the entry may go (Law 5).
 */
const translation = (entries: readonly DesiredEntry[]): ((sourceId: string) => Key) => {
  const byId = new Map(entries.map(({ id, key }) => [id, key]));
  const taken = new Set(entries.map(({ key }) => (key.kind === 'known' ? key.value : undefined)));
  return (sourceId) => {
    const key = byId.get(sourceId);
    if (key?.kind === 'known') return key;
    let value = sourceId;
    while (taken.has(value)) value = `${value} (gone)`;
    return { kind: 'known', value };
  };
};

/** The keys of both sides (EI §1.7) and whose each entry is (Law 4). Pure. */
export const enrollmentKeys = (
  source: Source<SourceItem>,
  observed: readonly InstanceDescription[],
  facts: KeysFacts,
): Keyed<SourceItem> => {
  const { owner, rule, sourceKey, enrollmentKey, allowUntaggedDestroy } = facts;
  const items = source.kind === 'unknown' ? [] : source.items;
  const byId = new Map(items.map((item) => [item.ID, item]));
  const entries = items.map((item): DesiredEntry => ({ id: item.ID, key: sourceKey(item) }));
  const keyOfTag = translation(entries);
  const storedSpecsBack = facts.isSpecsBack();

  // A selector that does not give an entry the key it was made for would make it again, and again.
  const selected = (select: Selector, description: InstanceDescription): Key => {
    const key = select(description);
    const made = facts.madeFor(description.ID);
    if (made === undefined || (key.kind === 'known' && key.value === made)) return key;
    const found = key.kind === 'known' ? `key ${key.value}` : `no key (${key.reason})`;
    return {
      kind: 'unknown',
      reason: `EnrollmentKeySelector gives ${found} for the entry that was made for key ${made}`,
    };
  };

  const keyOf = (description: InstanceDescription, sourceId: string | undefined): Key => {
    if (enrollmentKey !== null) return selected(enrollmentKey, description);
    return sourceId === undefined ? { kind: 'unknown', reason: `not-matched:${description.ID}` } : keyOfTag(sourceId);
  };

  const observe = (description: InstanceDescription): ObservedEntry => {
    const { ID, Tags, Created } = description;
    const sourceId = tagOf(Tags, reservedTags.enrollmentSourceId);
    const key = keyOf(description, sourceId);
    const created = createdMs(Created);
    const ownership = ownershipOf(shortened(Tags, facts), {
      owner,
      rule,
      keyKnown: key.kind === 'known',
      adopted: false,
      allowUntaggedDestroy,
      storedSpecsBack,
    });
    return {
      id: ID,
      key,
      ownership,
      ...(sourceId !== undefined && { sourceId }),
      ...(created !== undefined && { createdMs: created }),
    };
  };

  return {
    source: source.kind === 'unknown' ? source : { ...source, entries },
    observed: observed.map(observe),
    itemOf: (id) => byId.get(id),
  };
};
