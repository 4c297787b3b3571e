import type { Member, SpecObject } from '@infrakit/core';
import type { RuleProgress } from '@infrakit/spi';
import { type BusObject, scopeOf } from './objects.ts';

/** An item of the state of a rule, as the generic table prints it (EI §1.12). */
export interface RuleItem {
  readonly Key: string;
  readonly State: string;
  readonly Data?: unknown;
}

/** The state of a group (GP §1.5). */
export interface GroupStatus {
  readonly Instances?: readonly Member[];
  readonly Converged?: boolean;
  readonly Reason?: string;
}

const isItem = (value: unknown): value is RuleItem =>
  typeof value === 'object' && value !== null && 'Key' in value && 'State' in value;

/** The items of a state that is a list of them. */
export const itemsOf = (state: unknown): readonly RuleItem[] | undefined =>
  Array.isArray(state) && state.every(isItem) ? state : undefined;

/** Why a rule is held, and what a person types to end that (Law 6). */
export const heldSentence = (
  object: BusObject,
  name: string,
  { reason, plan }: Extract<RuleProgress, { kind: 'held' }>,
): string => {
  const verb = plan === undefined ? 'resume' : 'approve';
  const words = ['infrakit local', object.name, verb, ...(scopeOf(object) === null ? [name] : [])];
  if (plan === undefined) return `${name} is held: ${reason}; to go on: ${words.join(' ')}`;
  return `${name} is held: ${reason}; to let them through: ${[...words, '--plan', plan].join(' ')}`;
};

/** A state in a few words: how many items of each kind, or how far a group is, and what it waits for a person for. */
export const stateSummary = (object: Pick<SpecObject, 'state'>, progress: RuleProgress | undefined): string => {
  const items = itemsOf(object.state);
  const suffix = progress?.kind === 'held' ? `; held: ${progress.reason}` : '';
  if (items === undefined) {
    const { Instances = [], Converged, Reason = '-' } = (object.state ?? {}) as GroupStatus;
    return `${Converged === true ? `${Instances.length} members` : Reason}${suffix}`;
  }
  const counts = new Map<string, number>();
  for (const { State } of items) counts.set(State, (counts.get(State) ?? 0) + 1);
  const parts = [...counts].sort().map(([state, count]) => `${count} ${state}`);
  return `${parts.length === 0 ? 'no entries' : parts.join(', ')}${suffix}`;
};
