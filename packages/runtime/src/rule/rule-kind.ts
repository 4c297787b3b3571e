import type { AppError, Plan, Spec } from '@infrakit/core';
import type { CallContext, ObjectState, RuleProgress } from '@infrakit/spi';
import type { Observable } from 'rxjs';
import type { Look } from '../loop/look.ts';
import type { LoopTiming } from '../loop/loop.ts';
import type { CycleOutcome } from '../loop/outcome.ts';
import type { Rule } from './rule.ts';
import type { RuleRecord } from './rule-record.ts';

/** A spec that was found good, as the loop keeps it. Immutable: another commit makes another one (EI-E22). */
export interface Accepted<S, O> {
  readonly rule: Rule<S, O>;
  readonly timing: LoopTiming;
  /** Hints that either side may have changed. Never errors. */
  readonly triggers: Observable<unknown>;
  /** Digest of the list or source alone: a commit that changes it explains what leaves by it (Law 6). */
  readonly sourceHash: string;
  readonly warnings: readonly string[];
  /** What `destroy` does downstream: leave everything, or remove what is ours first. */
  readonly onDestroy: 'leave' | 'empty';
  /** Durable preparation of a commit, before it is recorded and any loop is swapped; a failure refuses the commit. Not called for a replay. */
  readonly committing?: (ctx: CallContext) => Promise<void>;
  /** It is in force from now on, in this phase; no cycle of it has begun yet. */
  readonly begun?: (phase: RuleRecord['phase']) => void;
  /** Durable preparation before the rule is forgotten, nothing of it being left downstream; a failure puts it off. */
  readonly forgetting?: (ctx: CallContext) => Promise<void>;
  /** Hears of each cycle's outcome, before it is published. */
  readonly seen?: (outcome: CycleOutcome) => void;
  /**
   * This acceptance is no longer in force: `next` has taken its place, or null when the rule is forgotten. For what it left
   * with others, such as a registration. A failure is logged and holds up nothing.
   */
  readonly retire?: (next: Accepted<S, O> | null, ctx: CallContext) => Promise<void>;
}

/** What a controller is, beyond the loop: how it reads a spec, and how it speaks of plans and states. */
export interface RuleKind<S, O> {
  /** The kind of its specs; another one is refused (GP-M10). */
  readonly kind: string;
  /** Every fault of a spec at once, as `SPEC_INVALID`; else the rule. `owner` is the label it writes (Law 4). */
  readonly accept: (spec: Spec, revision: number, owner: string, ctx: CallContext) => Promise<Accepted<S, O>>;
  /** The error for a name that is not there. Default `RULE_NOT_FOUND`. */
  readonly notFound?: (name: string) => AppError;
  /** What `destroy` says of entries that it leaves: so many, or null where the sink did not tell. Default: their number alone. */
  readonly leftLine?: (count: number | null, accepted: Accepted<S, O>) => string;
  /** The plan of a commit or, where the source reads as destroyed, of a destroy, as lines for people. */
  readonly planLines: (plan: Plan, seen: Look<S>, accepted: Accepted<S, O>) => readonly string[];
  /** The `state` of the rule's object, from its last cycle. */
  readonly stateOf: (outcome: CycleOutcome | null, accepted: Accepted<S, O>) => unknown;
  /**
   * How far an active or ending rule is, where the kind knows more than the last cycle tells. Asked only of a rule that was looked
   * at since its last commit and is not held. Default: what that cycle left open.
   */
  readonly progress?: (accepted: Accepted<S, O>) => RuleProgress;
  /** What is published of the rule, where the kind knows more than the last cycle tells. Default: as it is. */
  readonly published?: (state: ObjectState, accepted: Accepted<S, O>) => ObjectState;
}
