import type { Condition } from '@infrakit/spi';
import type { CycleOutcome } from '../loop/outcome.ts';
import { heldText } from '../loop/plan-lines.ts';

interface Finding {
  readonly type: string;
  readonly isTrue: boolean;
  readonly reason: string;
}

const findings = (outcome: CycleOutcome): Finding[] => {
  if (outcome.kind === 'failed') {
    const reason = `${outcome.at}: ${outcome.error.message}`;
    return [
      { type: 'Ready', isTrue: false, reason },
      { type: 'Converged', isTrue: false, reason },
    ];
  }
  const { source, held, counts, failures } = outcome;
  const first = failures[0];
  const isBusy = counts.created + counts.destroyed + counts.replaced + counts.labelled + counts.deferred > 0;
  const isDone = source.kind === 'known' && held === null && counts.failed === 0 && !isBusy && counts.quarantined === 0;
  const failed = first === undefined ? '' : `${first.act.kind}: ${first.error.message}`;
  return [
    { type: 'Ready', isTrue: true, reason: '' },
    { type: 'SourceKnown', isTrue: source.kind === 'known', reason: source.kind === 'known' ? '' : source.reason },
    { type: 'Held', isTrue: held !== null, reason: held === null ? '' : heldText(held) },
    { type: 'Failing', isTrue: counts.failed > 0, reason: failed },
    {
      type: 'Quarantined',
      isTrue: counts.quarantined > 0,
      reason: counts.quarantined > 0 ? `${counts.quarantined} entries have no usable key` : '',
    },
    { type: 'Converged', isTrue: isDone, reason: '' },
  ];
};

/**
 * What holds of a rule after a cycle; a condition that stays as it was keeps the time since when. A failed cycle learns
 * nothing about the conditions it does not find: they stay, so that a held rule does not look free for a moment.
 */
export const conditionsOf = (outcome: CycleOutcome, before: readonly Condition[]): readonly Condition[] => {
  const found = findings(outcome).map((finding): Condition => {
    const known = before.find((condition) => condition.type === finding.type);
    const sinceMs = known?.isTrue === finding.isTrue ? known.sinceMs : outcome.endedMs;
    return { ...finding, sinceMs };
  });
  if (outcome.kind === 'completed') return found;
  const types = new Set(found.map(({ type }) => type));
  return [...found, ...before.filter(({ type }) => !types.has(type))];
};
