import type { Member, SpecObject } from '@infrakit/core';

/** An item of the state of a rule, as the generic table prints it (EI §1.12). */
export interface RuleItem {
  readonly Key: string;
  readonly State: string;
  readonly Data?: { readonly error?: string; readonly held?: string };
}

/** The state of a group (GP §1.5). */
export interface GroupStatus {
  readonly Instances?: readonly Member[];
  readonly Converged?: boolean;
  readonly Reason?: string;
  readonly Phase?: string;
}

const isItem = (value: unknown): value is RuleItem =>
  typeof value === 'object' && value !== null && 'Key' in value && 'State' in value;

/** The items of a state that is a list of them. */
export const itemsOf = (state: unknown): readonly RuleItem[] | undefined =>
  Array.isArray(state) && state.every(isItem) ? state : undefined;

/** What keeps a rule from doing all that it would: null when nothing does (Law 6). */
export const heldReason = ({ state }: Pick<SpecObject, 'state'>): string | null => {
  const items = itemsOf(state);
  if (items === undefined) return (state as GroupStatus | undefined)?.Phase === 'held' ? 'held by hand' : null;
  return items.find(({ Data }) => Data?.held !== undefined)?.Data?.held ?? null;
};

/** A state in a few words: how many items of each kind, or how far a group is. */
export const stateSummary = (object: Pick<SpecObject, 'state'>): string => {
  const items = itemsOf(object.state);
  const held = heldReason(object);
  const suffix = held === null ? '' : `; held: ${held}`;
  if (items === undefined) {
    const { Instances = [], Converged, Reason = '-' } = (object.state ?? {}) as GroupStatus;
    return `${Converged === true ? `${Instances.length} members` : Reason}${suffix}`;
  }
  const counts = new Map<string, number>();
  for (const { State } of items) counts.set(State, (counts.get(State) ?? 0) + 1);
  const parts = [...counts].sort().map(([state, count]) => `${count} ${state}`);
  return `${parts.length === 0 ? 'no entries' : parts.join(', ')}${suffix}`;
};
