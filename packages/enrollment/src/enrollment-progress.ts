import { type ObservedEntry, toAppError } from '@infrakit/core';
import type { CycleOutcome } from '@infrakit/runtime';
import type { EnrollmentEvents, EventSubject } from './enrollment-events.ts';

/** What the last completed cycle found and did: what the state of a rule is made of. */
export interface Report {
  readonly outcome: Extract<CycleOutcome, { kind: 'completed' }>;
  /** Ids of entries made in this cycle, by key. */
  readonly made: ReadonlyMap<string, string>;
  /** Ids of entries destroyed in this cycle. */
  readonly gone: ReadonlySet<string>;
}

/** Follows a rule's acts, for its state and its events. */
export interface EnrollmentProgress {
  /** What a look saw in the sink, so that a destroy can be told by its key. */
  readonly looked: (observed: readonly ObservedEntry[]) => void;
  readonly creating: (subject: EventSubject, act: () => Promise<string>) => Promise<string>;
  readonly destroying: (id: string, act: () => Promise<void>) => Promise<void>;
  /** The key that an entry was made for, until a look shows it with that key. */
  readonly madeFor: (id: string) => string | undefined;
  readonly cycled: (outcome: CycleOutcome) => void;
  /** Null before the first completed cycle. */
  readonly report: () => Report | null;
}

/** Nothing done yet. */
export const enrollmentProgress = (events: EnrollmentEvents): EnrollmentProgress => {
  let observed: readonly ObservedEntry[] = [];
  let byId: ReadonlyMap<string, ObservedEntry> | undefined;
  let made = new Map<string, string>();
  let gone = new Set<string>();
  let report: Report | null = null;
  const unseen = new Map<string, string>();

  const subjectOf = (id: string): EventSubject => {
    byId ??= new Map(observed.map((entry) => [entry.id, entry]));
    const entry = byId.get(id);
    return {
      ...(entry?.key.kind === 'known' && { key: entry.key.value }),
      ...(entry?.sourceId !== undefined && { sourceID: entry.sourceId }),
      enrollmentID: id,
    };
  };

  return {
    looked: (entries) => {
      observed = entries;
      byId = undefined;
      if (unseen.size === 0) return;
      for (const { id, key } of entries) if (key.kind === 'known' && unseen.get(id) === key.value) unseen.delete(id);
    },
    creating: async (subject, act) => {
      try {
        const id = await act();
        if (subject.key !== undefined) {
          made.set(subject.key, id);
          unseen.set(id, subject.key);
        }
        events.provisioned({ ...subject, enrollmentID: id });
        return id;
      } catch (thrown) {
        events.notProvisioned(subject, toAppError(thrown));
        throw thrown;
      }
    },
    destroying: async (id, act) => {
      try {
        await act();
        gone.add(id);
        unseen.delete(id);
        events.destroyed(subjectOf(id));
      } catch (thrown) {
        events.notDestroyed(subjectOf(id), toAppError(thrown));
        throw thrown;
      }
    },
    madeFor: (id) => unseen.get(id),
    cycled: (outcome) => {
      if (outcome.kind === 'completed') report = { outcome, made, gone };
      made = new Map();
      gone = new Set();
      events.cycled(outcome);
    },
    report: () => report,
  };
};
