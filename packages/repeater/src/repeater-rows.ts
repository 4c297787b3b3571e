import { reservedTags } from '@infrakit/core';
import type { CycleOutcome } from '@infrakit/runtime';
import type { WantedMirror } from './mirror/wanted-mirror.ts';
import type { MirrorReport } from './topic-instances.ts';

/** One rule in the `state` of a repeater's object. */
export interface RepeaterRow {
  /** What the rule is known by. */
  readonly Key: string;
  readonly Ordinal: number;
  readonly State: 'pending' | 'active' | 'connecting' | 'unhealthy' | 'refused' | 'error';
  readonly Data: {
    readonly sinktopic: string;
    readonly messages: number;
    readonly bytes: number;
    readonly dropped: number;
    readonly unacknowledged: number;
    readonly lagMs: number;
    /** What waits on the disk for the connections of the rule, and what a full buffer had no room for; only with a buffer. */
    readonly buffered?: { readonly messages: number; readonly bytes: number };
    readonly overflowed?: number;
    /** What is spoken with the brokers: `5`, `3.1.1`, or `3.1.1 → 5`. */
    readonly mqtt?: string;
    /** What of the rule the sink does not allow, and why the last message was dropped. */
    readonly notes?: string;
    readonly lastDrop?: string;
    readonly error?: string;
  };
}

/** The rules of a repeater in their order, each with how its mirror fares. */
export const repeaterRows = (
  wanted: readonly WantedMirror[],
  reports: readonly MirrorReport[],
  outcome: CycleOutcome | null,
): readonly RepeaterRow[] => {
  const byId = new Map(reports.map((report) => [report.record.Tags[reservedTags.enrollmentSourceId], report]));
  const failures = outcome?.kind === 'completed' ? outcome.failures : [];
  const errors = new Map(failures.map(({ act, error }) => ['key' in act ? act.key : '', error.message]));
  return wanted.map(({ id, mirror }, Ordinal): RepeaterRow => {
    const status = byId.get(id)?.status;
    const failed = errors.get(id);
    const { messages = 0, bytes = 0, dropped = 0, unacknowledged = 0, lagMs = 0, lastError = '' } = status ?? {};
    const { buffered = null, overflowed = 0 } = status ?? {};
    const { mqtt = '', notes = [], lastDrop = '' } = status ?? {};
    const error = failed ?? lastError;
    return {
      Key: id,
      Ordinal,
      State: failed === undefined ? (status?.state ?? 'pending') : 'error',
      Data: {
        sinktopic: mirror.sinktopic,
        messages,
        bytes,
        dropped,
        unacknowledged,
        lagMs: Math.round(lagMs),
        ...(buffered !== null && { buffered, overflowed }),
        ...(mqtt !== '' && { mqtt }),
        ...(notes.length > 0 && { notes: notes.join('; ') }),
        ...(lastDrop !== '' && { lastDrop }),
        ...(error !== '' && { error }),
      },
    };
  });
};
