import type { RulePhase, RuleProgress } from '@infrakit/spi';
import type { CycleOutcome } from './outcome.ts';

const working = (reason: string): RuleProgress => ({ kind: 'working', reason });

const ofOutcome = (outcome: CycleOutcome): RuleProgress => {
  if (outcome.kind === 'failed') return working(`${outcome.at}: ${outcome.error.message}`);
  const { source, held, counts, failures } = outcome;
  const [first] = failures;
  if (held !== null) return { kind: 'held', reason: held.reason, plan: held.planId };
  if (source.kind !== 'known') return working(source.reason);
  if (first !== undefined) return working(`${first.act.kind}: ${first.error.message}`);
  if (counts.deferred > 0) return working(`${counts.deferred} acts are not done yet`);
  if (counts.quarantined === 0) return { kind: 'converged' };
  return { kind: 'quarantined', reason: `${counts.quarantined} entries have no usable key` };
};

/**
 * How far a rule is by the last cycle since its spec and phase are in force; `outcome` is null while there was none, and then
 * it is not converged, whatever an earlier spec had come to. `underWay` acts of a freed rule may still end.
 */
export const progressOf = (
  outcome: CycleOutcome | null,
  { phase, reason, underWay }: { readonly phase: RulePhase; readonly reason: string; readonly underWay: number },
): RuleProgress => {
  switch (phase) {
    case 'freed':
      return underWay === 0 ? { kind: 'converged' } : working(`${underWay} acts are under way`);
    case 'held':
      return { kind: 'held', reason: reason === '' ? 'held by hand' : reason };
    case 'active':
      return outcome === null ? working('not looked at yet') : ofOutcome(outcome);
    case 'destroying': {
      const found = outcome === null ? working('not looked at yet') : ofOutcome(outcome);
      return found.kind === 'converged' ? working('being destroyed') : found;
    }
    default:
      return phase satisfies never;
  }
};
