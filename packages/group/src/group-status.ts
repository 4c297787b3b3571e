import { bootstrapHash, reservedTags } from '@infrakit/core';
import type { CycleOutcome } from '@infrakit/runtime';
import type { Condition, ObjectState, RuleProgress } from '@infrakit/spi';
import { targetOf } from './group-config.ts';
import type { GroupState, InForce } from './group-state.ts';
import { logicalIdOf } from './roster.ts';

/** Whether a group is as its spec wants it, and else why not (GP-G12). */
export interface Convergence {
  readonly isConverged: boolean;
  readonly reason: string;
}

/** Members of another configuration than the one in force; our own host, which is never replaced, does not count. */
const outdatedCount = (state: GroupState, { config }: InForce, self: string | undefined): number => {
  let count = 0;
  const bindings = state.record()?.bindings ?? {};
  for (const description of state.roster.descriptions()) {
    const { ID, Tags } = description;
    const hash = bindings[ID]?.Hash ?? Tags?.[reservedTags.configHash];
    const isSelf = self !== undefined && (ID === self || logicalIdOf(description) === self);
    if (hash !== config.hash && hash !== bootstrapHash && !isSelf) count += 1;
  }
  return count;
};

const failureOf = (outcome: CycleOutcome | null): string | undefined => {
  if (outcome?.kind === 'failed') return `${outcome.at}: ${outcome.error.message}`;
  const first = outcome?.failures[0];
  return first === undefined ? undefined : `${first.act.kind}: ${first.error.message}`;
};

/** A group is converged when it is known, has its size, has no outdated members, and nothing it does fails (GP-G12). */
const convergence = (state: GroupState, inForce: InForce, self: string | undefined): Convergence => {
  const { unknown } = state.view();
  const no = (reason: string): Convergence => ({ isConverged: false, reason });
  if (unknown !== null) return no(unknown);
  const failure = failureOf(state.outcome());
  if (failure !== undefined) return no(failure);
  const condemned = (state.record()?.condemned ?? []).filter((id) => state.roster.has(id)).length;
  if (condemned > 0) return no(`${condemned} members are still to go`);
  const target = state.phase() === 'destroying' ? 0 : targetOf(inForce.wanted);
  const count = state.roster.size();
  if (count !== target) return no(`${count} of ${target} members`);
  const outdated = outdatedCount(state, inForce, self);
  return outdated === 0 ? { isConverged: true, reason: '' } : no(`${outdated} members are of another configuration`);
};

/** How far a group is by its members as they are now: its target may be another one than that of the last cycle. */
export const groupProgress = (state: GroupState, inForce: InForce, self: string | undefined): RuleProgress => {
  const { isConverged, reason } = convergence(state, inForce, self);
  if (!isConverged) return { kind: 'working', reason };
  return state.phase() === 'destroying' ? { kind: 'working', reason: 'being destroyed' } : { kind: 'converged' };
};

/** The `state` of a group's object: who is in, as far as that is known, and whether the spec is met (GP §1.5). */
export const describeGroup = (state: GroupState, inForce: InForce, self: string | undefined): unknown => {
  const { isConverged, reason } = convergence(state, inForce, self);
  const phase = state.phase() ?? 'active';
  return {
    Instances: state.view().unknown === null ? [...state.roster.list()] : [],
    Converged: isConverged,
    ...(reason !== '' && { Reason: reason }),
    Phase: phase,
    Size: targetOf(inForce.wanted),
  };
};

/** A state topic that tells of the members, and not of the last cycle's acts alone (DESIGN §3). */
export const publishedState = (
  told: ObjectState,
  state: GroupState,
  inForce: InForce,
  self: string | undefined,
): ObjectState => {
  const { isConverged, reason } = convergence(state, inForce, self);
  const view = state.view();
  return {
    ...told,
    conditions: told.conditions.map(
      (one): Condition => (one.type === 'Converged' ? state.since({ ...one, isTrue: isConverged, reason }) : one),
    ),
    counts: { ...told.counts, members: state.roster.size(), target: view.target },
    digest: state.membership.digest(view),
  };
};
