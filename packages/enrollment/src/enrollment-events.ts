import type { AppError, Event } from '@infrakit/core';
import type { CycleOutcome } from '@infrakit/runtime';

/** Which entry an event is about; what is not known is left out. */
export interface EventSubject {
  readonly key?: string;
  readonly sourceID?: string;
  readonly enrollmentID?: string;
}

/** The kinds of event of a rule, by topic suffix (EI §5.5), with type and message as collections have them (EI §5.4). */
const kinds = {
  provision: ['Provision', 'provisioning resource'],
  'error/provision': ['ProvisionErr', 'error when provision'],
  destroy: ['Destroy', 'destroying resource'],
  'error/destroy': ['DestroyErr', 'destroying resource error'],
  sync: ['Sync', 'sync'],
  'error/sync': ['SyncErr', 'error when sync'],
  'parse/source': ['ParseSource', 'no key for a source entry'],
  'parse/enrolled': ['ParseEnrolled', 'no key for an enrolled entry'],
} as const;

type Suffix = keyof typeof kinds;

/** The topic suffixes of a rule's events. */
export const eventSuffixes = Object.keys(kinds) as readonly Suffix[];

/** Tells what becomes of one rule. */
export interface EnrollmentEvents {
  readonly provisioned: (subject: EventSubject) => void;
  readonly notProvisioned: (subject: EventSubject, error: AppError) => void;
  readonly destroyed: (subject: EventSubject) => void;
  readonly notDestroyed: (subject: EventSubject, error: AppError) => void;
  /** Tells of a cycle only what is news: what it did, an error that is new or goes on, entries newly without a key. */
  readonly cycled: (outcome: CycleOutcome) => void;
}

/** Of the same error of cycle after cycle, the first is told, and then one in so many. */
const repeatEvery = 60;

type Completed = Extract<CycleOutcome, { kind: 'completed' }>;

const troubleOf = (outcome: CycleOutcome): string | null => {
  if (outcome.kind === 'failed') return outcome.error.message;
  return outcome.source.kind === 'known' ? null : outcome.source.reason;
};

/** The events of the rule `rule`, under the topic `<rule>/<suffix>` (EI §5.5). */
export const enrollmentEvents = (
  rule: string,
  deps: { readonly publish: (event: Event) => void; readonly nowMs: () => number },
): EnrollmentEvents => {
  let trouble: string | null = null;
  let repeats = 0;
  let told = '';
  let keyless: ReadonlySet<string> = new Set();

  const tell = (suffix: Suffix, about: string, Data: object, error?: string): void => {
    const [Type, Message] = kinds[suffix];
    deps.publish({
      Topic: `${rule}/${suffix}`,
      Type,
      ID: `${rule}/${about}`,
      Message,
      Timestamp: new Date(deps.nowMs()).toISOString(),
      Data,
      ...(error === undefined ? {} : { Error: error }),
    });
  };
  const aboutOf = ({ key, sourceID, enrollmentID }: EventSubject): string => key ?? sourceID ?? enrollmentID ?? '';

  const tellTrouble = (outcome: CycleOutcome): void => {
    const now = troubleOf(outcome);
    repeats = now === trouble ? repeats + 1 : 0;
    trouble = now;
    if (now !== null && repeats % repeatEvery === 0) tell('error/sync', '', {}, now);
  };

  const tellSync = ({ counts }: Completed): void => {
    const { desired, observed, foreign, created, destroyed, labelled, replaced, failed } = counts;
    const sync = {
      source: desired,
      enrolled: observed - foreign,
      added: created + replaced,
      removed: destroyed,
      failed,
    };
    const isQuiet = created + destroyed + labelled + replaced === 0 && told === JSON.stringify(sync);
    told = JSON.stringify(sync);
    if (!isQuiet) tell('sync', '', sync);
  };

  const tellKeyless = ({ plan, counts }: Completed): void => {
    if (counts.quarantined === 0 && keyless.size === 0) return;
    const now = new Set<string>();
    for (const act of plan.acts) {
      if (act.kind !== 'quarantined') continue;
      const mark = `${act.side} ${act.id}`;
      now.add(mark);
      if (keyless.has(mark)) continue;
      if (act.side === 'source') tell('parse/source', act.id, { sourceID: act.id }, act.reason);
      else tell('parse/enrolled', act.id, { enrollmentID: act.id }, act.reason);
    }
    keyless = now;
  };

  return {
    provisioned: (subject) => tell('provision', aboutOf(subject), subject),
    notProvisioned: (subject, error) => tell('error/provision', aboutOf(subject), subject, error.message),
    destroyed: (subject) => tell('destroy', aboutOf(subject), subject),
    notDestroyed: (subject, error) => tell('error/destroy', aboutOf(subject), subject, error.message),
    cycled: (outcome) => {
      tellTrouble(outcome);
      if (outcome.kind !== 'completed') return;
      tellKeyless(outcome);
      tellSync(outcome);
    },
  };
};
