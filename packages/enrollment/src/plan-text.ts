import type { Plan } from '@infrakit/core';
import { type Look, planLines } from '@infrakit/runtime';
import type { SourceItem } from './source-item.ts';

/**
 * A plan for people (EI §1.11): one line an act, entries of others as their number alone, and first of all why the source
 * is not known, if it is not.
 */
export const enrollmentPlanLines = (plan: Plan, { source }: Look<SourceItem>): readonly string[] => {
  const own = plan.acts.filter(({ kind }) => kind !== 'foreign');
  const foreign = plan.acts.length - own.length;
  const removed = own.filter(({ kind }) => kind === 'destroy').length;
  return [
    ...(source.kind === 'known' ? [] : [`the source is ${source.kind}: ${source.reason}`]),
    ...(source.kind === 'known' && source.items.length === 0 && removed > 0
      ? [`the source is empty: ${removed} of ours go`]
      : []),
    ...planLines({ ...plan, acts: own }, null),
    ...(foreign === 0 ? [] : [`leave ${foreign} that are not ours`]),
  ];
};

/** What a destroy without `DestroyOnTerminate` leaves: so many, or null where the sink did not tell. */
export const enrollmentLeftLine = (count: number | null, sink: string): string => {
  const what = count === null ? 'what it made stays' : count === 1 ? '1 entry stays' : `${count} entries stay`;
  return `${what} in ${sink}, since DestroyOnTerminate is not set`;
};
