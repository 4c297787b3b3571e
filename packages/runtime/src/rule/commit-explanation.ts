import type { Act, ObservedEntry, Plan } from '@infrakit/core';
import type { BudgetRecord } from '../log/ledger-store.ts';

type Commit = BudgetRecord['commit'];

const isUnexplained = (act: Act): boolean => act.kind === 'destroy' && act.explained === undefined;

/**
 * What a commit of the rule that changed its list or source explains (Law 6): the entries that the first plan over the
 * new source sends away. They stay explained, by name, until they are gone; later losses are not theirs to explain.
 */
export const nameDepartures = (commit: Commit, plan: Plan): Commit =>
  commit?.ids === null
    ? { ...commit, ids: plan.acts.flatMap((act) => (act.kind === 'destroy' && isUnexplained(act) ? [act.id] : [])) }
    : commit;

const isWanted = (act: Act): boolean => act.kind === 'keep' || act.kind === 'label' || act.kind === 'replace';

/**
 * The commit without its entries that the sink no longer shows, or that are wanted again: when those go later, it is not
 * for this commit. Null when none is left.
 */
export const forgetDeparted = (commit: Commit, observed: readonly ObservedEntry[], plan: Plan): Commit => {
  if (commit === null || commit.ids === null) return commit;
  if (commit.ids.length === 0) return null;
  const there = new Set(observed.map((entry) => entry.id));
  for (const act of plan.acts) if (isWanted(act) && 'id' in act) there.delete(act.id);
  const ids = commit.ids.filter((id) => there.has(id));
  if (ids.length === commit.ids.length) return commit;
  return ids.length === 0 ? null : { ...commit, ids };
};

/** The plan with the commit's entries explained; its id is the same, since explanations are no part of it. */
export const explainByCommit = (plan: Plan, commit: Commit): Plan => {
  if (commit === null || commit.ids === null || commit.ids.length === 0) return plan;
  const ids = new Set(commit.ids);
  const explained = { by: 'commit', revision: commit.revision } as const;
  return {
    ...plan,
    acts: plan.acts.map((act) =>
      act.kind === 'destroy' && act.explained === undefined && ids.has(act.id) ? { ...act, explained } : act,
    ),
  };
};
