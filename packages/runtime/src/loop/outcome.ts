import type { Act, AppError, Plan } from '@infrakit/core';

/** An act that failed, and why; it is tried again on its own when its backoff is over (Law 9). */
export interface Failure {
  readonly act: Act;
  readonly error: AppError;
}

/** What a budget or a person keeps from happening (Law 6). */
export interface Held {
  /** The plan that `approve` takes. */
  readonly planId: string;
  readonly destroys: readonly string[];
  readonly reason: string;
}

/** How many of what a cycle saw and did. */
export interface Counts {
  readonly desired: number;
  readonly observed: number;
  readonly created: number;
  readonly labelled: number;
  readonly replaced: number;
  readonly destroyed: number;
  readonly failed: number;
  /** Planned, and left for later: backing off, or paired with something that is. */
  readonly deferred: number;
  readonly quarantined: number;
  readonly foreign: number;
}

interface Cycle {
  readonly cycleId: string;
  readonly startedMs: number;
  readonly endedMs: number;
}

/** One cycle as a value: also one that could not do its work (STYLE, Errors). */
export type CycleOutcome = Cycle &
  (
    | {
        readonly kind: 'completed';
        readonly source:
          | { readonly kind: 'known' }
          | { readonly kind: 'partial'; readonly reason: string }
          | { readonly kind: 'unknown'; readonly reason: string; readonly error?: AppError };
        /** The plan as it was computed, held destroys included. */
        readonly plan: Plan;
        readonly held: Held | null;
        readonly counts: Counts;
        readonly failures: readonly Failure[];
        /** When the first deferred or failed act is due, an accepted one should have shown, or what was done is to be seen. */
        readonly againAtMs: number | null;
      }
    | { readonly kind: 'failed'; readonly at: 'sink' | 'keys' | 'prepare'; readonly error: AppError }
  );
