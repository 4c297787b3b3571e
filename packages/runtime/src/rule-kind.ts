import type { Plan, Spec } from '@infrakit/core';
import type { CallContext } from '@infrakit/spi';
import type { Observable } from 'rxjs';
import type { Look } from './look.ts';
import type { LoopTiming } from './loop.ts';
import type { CycleOutcome } from './outcome.ts';
import type { Rule } from './rule.ts';

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
}

/** What a controller is, beyond the loop: how it reads a spec, and how it speaks of plans and states. */
export interface RuleKind<S, O> {
  /** The kind of its specs; another one is refused (GP-M10). */
  readonly kind: string;
  /** Every fault of a spec at once, as `SPEC_INVALID`; else the rule. `owner` is the label it writes (Law 4). */
  readonly accept: (spec: Spec, revision: number, owner: string, ctx: CallContext) => Promise<Accepted<S, O>>;
  /** The plan as lines for people. */
  readonly planLines: (plan: Plan, seen: Look<S>) => readonly string[];
  /** The `state` of the rule's object, from its last cycle. */
  readonly stateOf: (outcome: CycleOutcome | null, accepted: Accepted<S, O>) => unknown;
}
