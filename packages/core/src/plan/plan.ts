import { compareUtf8 } from '../value/canonical.ts';
import type { Act, Plan } from './act.ts';
import type { DesiredEntry, Explanation, ObservedEntry, SourceReading } from './entry.ts';
import { planId } from './plan-id.ts';
import { type IndexedSink, indexSink, mayDestroy } from './plan-sink.ts';
import { type IndexedSource, indexSource } from './plan-source.ts';
import {
  type EnrollmentPolicy,
  enrollmentPolicies,
  knownPolicy,
  type SourcePolicy,
  sourcePolicies,
  withholdCreate,
  withholdDestroy,
} from './plan-withhold.ts';

/** All that a plan depends on; nothing else is read (Law 3). */
export interface PlanInput {
  readonly source: SourceReading;
  readonly observed: readonly ObservedEntry[];
  /** Keys whose creation was accepted but which the sink does not show yet: not created again (EI-E15). */
  readonly creating?: ReadonlySet<string>;
  /** Ids whose destroy was accepted but which the sink still shows: neither matched nor destroyed again. */
  readonly destroying?: ReadonlySet<string>;
  /** Whether a changed content replaces an entry. Default `keep`. */
  readonly onChange?: 'keep' | 'replace';
  /** What an unknown source key forbids (EI §1.8, Law 5). Default `Quarantine`. */
  readonly sourcePolicy?: SourcePolicy;
  /** What an unknown key of an owned entry forbids (EI §1.8, Law 5). Default `Quarantine`. */
  readonly enrollmentPolicy?: EnrollmentPolicy;
  /** Why an entry is expected to go, if known (Law 6). */
  readonly explain?: (entry: ObservedEntry) => Explanation | undefined;
}

type ActOf<K extends Act['kind']> = Extract<Act, { kind: K }>;

/** The acts of a plan by kind, in the order in which a plan lists them. */
interface Draft {
  readonly create: ActOf<'create'>[];
  readonly keep: ActOf<'keep'>[];
  readonly label: ActOf<'label'>[];
  readonly replace: ActOf<'replace'>[];
  readonly destroy: ActOf<'destroy'>[];
  readonly duplicate: ActOf<'duplicate'>[];
  readonly badSource: ActOf<'quarantined'>[];
  readonly badSink: ActOf<'quarantined'>[];
  readonly foreign: ActOf<'foreign'>[];
}

const emptied = (source: SourceReading): Explanation | undefined => {
  if (source.kind !== 'known') return undefined;
  if (source.phase === 'destroyed') return { by: 'empty', reason: 'destroyed' };
  return source.target === 0 ? { by: 'empty', reason: 'target' } : undefined;
};

/** Sorted by the UTF-8 bytes of one field, in place; already sorted input costs one pass. */
const sortBy = <T>(items: T[], textOf: (item: T) => string): T[] => {
  for (let index = 1; index < items.length; index += 1) {
    const [before, item] = [items[index - 1] as T, items[index] as T];
    if (compareUtf8(textOf(before), textOf(item)) > 0) return items.sort((a, b) => compareUtf8(textOf(a), textOf(b)));
  }
  return items;
};

const assemble = (draft: Draft): Plan => {
  const { create, ...others } = draft;
  sortBy(create, ({ sourceId }) => sourceId);
  for (const acts of Object.values(others)) sortBy<{ readonly id: string }>(acts, ({ id }) => id);
  const { keep, label, replace, destroy, duplicate, badSource, badSink, foreign } = others;
  const none: readonly Act[] = [];
  const acts = none.concat(create, keep, label, replace, destroy, duplicate, badSource, badSink, foreign);
  return { id: planId(acts), acts };
};

const foreignAct = ({ id, ownership }: ObservedEntry): ActOf<'foreign'> =>
  ownership.kind === 'foreign' && ownership.owner !== undefined
    ? { kind: 'foreign', id, owner: ownership.owner }
    : { kind: 'foreign', id };

const canLabel = ({ ownership }: ObservedEntry): boolean =>
  (ownership.kind === 'named' && ownership.judged) || (ownership.kind === 'untagged' && ownership.adopted);

const isChanged = (want: DesiredEntry, have: ObservedEntry): boolean =>
  want.content !== undefined &&
  have.content !== undefined &&
  want.content !== have.content &&
  (have.ownership.kind === 'ours' || (have.ownership.kind === 'named' && have.ownership.judged));

/** Source entries: created, or kept, labelled, replaced where the sink has their key. */
const draftWanted = (draft: Draft, input: PlanInput, source: IndexedSource, sink: IndexedSink): void => {
  const withheld = withholdCreate(
    source,
    sink,
    knownPolicy(input.enrollmentPolicy ?? 'Quarantine', enrollmentPolicies),
  );
  const canReplace = input.onChange === 'replace' && input.source.kind === 'known';
  source.wants.forEach((want, row) => {
    if (want.key.kind === 'unknown') return;
    const { id: sourceId, content } = want;
    const key = want.key.value;
    const have = sink.holders[row];
    if (have === undefined) {
      if (input.creating?.has(key)) return;
      const reason = withheld(want);
      if (reason !== undefined) draft.badSource.push({ kind: 'quarantined', side: 'source', id: sourceId, reason });
      else draft.create.push({ kind: 'create', key, sourceId, ...(content !== undefined && { content }) });
    } else if (canReplace && content !== undefined && isChanged(want, have)) {
      draft.replace.push({ kind: 'replace', key, sourceId, id: have.id, content });
    } else if (canLabel(have)) draft.label.push({ kind: 'label', key, sourceId, id: have.id });
    else draft.keep.push({ kind: 'keep', key, sourceId, id: have.id });
  });
  for (const { id, key } of source.unknown) {
    if (key.kind === 'unknown') draft.badSource.push({ kind: 'quarantined', side: 'source', id, reason: key.reason });
  }
  for (const { entry, row } of source.losers) {
    const reason = `its key is also the key of source ${JSON.stringify(source.wants[row]?.id)}, which has the smaller id`;
    draft.badSource.push({ kind: 'quarantined', side: 'source', id: entry.id, reason });
  }
};

/** Entries of the sink that nobody wants, that are there twice, or that cannot be told. */
const draftUnwanted = (draft: Draft, input: PlanInput, source: IndexedSource, sink: IndexedSink): void => {
  const isKnown = input.source.kind === 'known';
  for (const { entry, key, row } of sink.surplus) {
    const reduce = isKnown && entry.ownership.kind === 'ours';
    draft.duplicate.push({ kind: 'duplicate', key, id: entry.id, of: sink.holders[row]?.id ?? '', reduce });
  }
  const allExplained = emptied(input.source);
  const destroy = (entry: ObservedEntry): void => {
    const { id, key, sourceId } = entry;
    const explained = allExplained ?? input.explain?.(entry);
    draft.destroy.push({
      kind: 'destroy',
      id,
      ...(key.kind === 'known' && { key: key.value }),
      ...(sourceId !== undefined && { sourceId }),
      ...(explained !== undefined && { explained }),
    });
  };
  const quarantine = (id: string, reason: string): void => {
    draft.badSink.push({ kind: 'quarantined', side: 'sink', id, reason });
  };
  // Whatever its key is, no entry of an emptied source has it (Law 2); the old policies never destroyed such an entry.
  const isKeyMoot =
    allExplained !== undefined &&
    source.wants.length + source.unknown.length === 0 &&
    (input.enrollmentPolicy ?? 'Quarantine') === 'Quarantine';
  for (const { entry, reason } of sink.unreadable) {
    if (isKeyMoot && mayDestroy(entry.ownership)) destroy(entry);
    else quarantine(entry.id, reason);
  }
  if (!isKnown) return;
  const withheld = withholdDestroy(source, knownPolicy(input.sourcePolicy ?? 'Quarantine', sourcePolicies));
  for (const entry of sink.unmatched) {
    if (mayDestroy(entry.ownership)) {
      const reason = withheld(entry);
      if (reason === undefined) destroy(entry);
      else quarantine(entry.id, reason);
    } else if (entry.ownership.kind === 'untagged') draft.foreign.push(foreignAct(entry));
    else
      quarantine(entry.id, 'not destroyed before all stored specs are back: its old name label may be of another rule');
  }
};

/**
 * What one cycle is to do. Pure: nothing is changed by computing it, and the order of the input does not matter (Law 3).
 *
 * ```
 * desired      observed                        plan
 * yes          no                              create       (nothing while `creating`)
 * yes          yes, ours                       keep         content changed, OnChange replace: replace
 * yes          yes, named and judged           label        (then ours); named, not judged: keep
 * yes          yes, untagged                   keep         adopted: label
 * yes          yes, twice                      duplicate    of the best (ours, wanted content, oldest); reduced only where ours (EI-E10)
 * no           yes, ours or named and judged   destroy      untagged: only when adopted or destroyable
 * no           yes, named, not judged          quarantined
 * no           yes, untagged                   foreign
 * any          yes, foreign                    foreign      reported, never touched, blocks nobody
 * key unknown  any                             quarantined  and nothing made for it is destroyed (Law 5)
 * any          yes, key unknown                quarantined  and the member it was made for is not created (Law 5)
 * partial      any                             creates, labels and keeps only (Law 1)
 * unknown      any                             foreign only (Law 1)
 * known empty  yes, ours                       destroy, explained, its key known or not (Law 2)
 * ```
 * Order: create (by source id), keep, label, replace, destroy, duplicate, quarantined (source, then sink), foreign (each by
 * id); strings compare as UTF-8 bytes. Linear in time for sorted input; 1,000,000 against as many takes about a second.
 */
export const plan = (input: PlanInput): Plan => {
  const { source: reading } = input;
  const source = indexSource(reading.kind === 'unknown' ? [] : reading.entries);
  const sink = indexSink(input.observed, source, {
    destroying: input.destroying,
    isUntaggedBroken: input.enrollmentPolicy === 'DisableProvision',
  });
  const draft: Draft = {
    create: [],
    keep: [],
    label: [],
    replace: [],
    destroy: [],
    duplicate: [],
    badSource: [],
    badSink: [],
    foreign: sink.foreign.map(foreignAct),
  };
  if (reading.kind !== 'unknown') {
    draftWanted(draft, input, source, sink);
    draftUnwanted(draft, input, source, sink);
  }
  return assemble(draft);
};
