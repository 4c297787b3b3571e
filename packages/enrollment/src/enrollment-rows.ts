import { type Act, compareUtf8 } from '@infrakit/core';
import type { Report } from './enrollment-progress.ts';

/** One item of the `state` of an enrollment object, in the shape that the generic table prints (EI §1.12). */
export interface EnrollmentRow {
  /** The join key; the id of an entry that has none. */
  readonly Key: string;
  readonly Ordinal: number;
  readonly State: 'pending' | 'enrolled' | 'removing' | 'error' | 'unmatched';
  readonly Data: {
    readonly sourceID?: string;
    readonly enrollmentID?: string;
    readonly error?: string;
    /** Why something that is planned is not done, and the plan that `approve` takes to let it through. */
    readonly held?: string;
    readonly plan?: string;
  };
}

type Row = Omit<EnrollmentRow, 'Ordinal'>;

const sourced = (sourceID: string | undefined): { readonly sourceID?: string } =>
  sourceID === undefined ? {} : { sourceID };

/** The row of an act of the last plan; null for what is no longer there, and for the entries of others. */
const rowOf = (act: Act, report: Report, errors: ReadonlyMap<Act, string>): Row | null => {
  const { held } = report.outcome;
  const error = errors.get(act);
  switch (act.kind) {
    case 'create': {
      const { key: Key, sourceId: sourceID } = act;
      const enrollmentID = report.made.get(Key);
      if (error !== undefined) return { Key, State: 'error', Data: { sourceID, error } };
      return enrollmentID === undefined
        ? { Key, State: 'pending', Data: { sourceID } }
        : { Key, State: 'enrolled', Data: { sourceID, enrollmentID } };
    }
    case 'keep':
    case 'label':
    case 'replace': {
      const Data = { ...sourced(act.sourceId), enrollmentID: act.id };
      if (error !== undefined) return { Key: act.key, State: 'error', Data: { ...Data, error } };
      return { Key: act.key, State: 'enrolled', Data };
    }
    case 'destroy': {
      if (report.gone.has(act.id)) return null;
      const Data = { ...sourced(act.sourceId), enrollmentID: act.id };
      const Key = act.key ?? act.id;
      if (error !== undefined) return { Key, State: 'error', Data: { ...Data, error } };
      const waits = held?.destroys.includes(act.id) === true ? { held: held.reason, plan: held.planId } : {};
      return { Key, State: 'removing', Data: { ...Data, ...waits } };
    }
    case 'duplicate':
      if (report.gone.has(act.id)) return null;
      return { Key: act.key, State: act.reduce ? 'removing' : 'unmatched', Data: { enrollmentID: act.id } };
    case 'quarantined':
      return {
        Key: act.id,
        State: 'error',
        Data: { ...(act.side === 'source' ? { sourceID: act.id } : { enrollmentID: act.id }), error: act.reason },
      };
    case 'foreign':
      return act.owner === undefined ? { Key: act.id, State: 'unmatched', Data: { enrollmentID: act.id } } : null;
    default:
      return act satisfies never;
  }
};

/** The state of a rule: an item for each entry of either side that is not somebody else's, sorted by key (EI §1.12, EI-E29). */
export const enrollmentRows = (report: Report | null): readonly EnrollmentRow[] => {
  if (report === null) return [];
  const errors = new Map<Act, string>(report.outcome.failures.map(({ act, error }) => [act, error.message]));
  return report.outcome.plan.acts
    .flatMap((act) => rowOf(act, report, errors) ?? [])
    .sort((left, right) => compareUtf8(left.Key, right.Key))
    .map(({ Key, ...row }, Ordinal) => ({ Key, Ordinal, ...row }));
};
