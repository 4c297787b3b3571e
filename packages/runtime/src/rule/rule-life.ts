import { AppError, approve, type Explanation } from '@infrakit/core';
import type { CallContext } from '@infrakit/spi';
import { merge, type Observable, Subject } from 'rxjs';
import type { CycleDeps } from '../loop/cycle-deps.ts';
import type { CycleMemory } from '../loop/cycle-memory.ts';
import { type Look, look } from '../loop/look.ts';
import { loop } from '../loop/loop.ts';
import type { CycleOutcome } from '../loop/outcome.ts';
import { bounded, boundsOf } from '../work/bounded.ts';
import type { Rule } from './rule.ts';
import type { Accepted } from './rule-kind.ts';
import type { RuleRecord } from './rule-record.ts';

/** How a rule is kept at present: by its spec, only watched, or being emptied before it is forgotten. */
export type Mode = 'keep' | 'watch' | 'empty';

/** One accepted rule with its loop. */
export interface RuleLife<S> {
  /** Looks again soon. */
  readonly nudge: () => void;
  /** No cycle begins after the call; resolves when the one in progress has ended. */
  readonly stop: () => Promise<void>;
  readonly outcome: () => CycleOutcome | null;
  /** A look that changes nothing; throws what kept it from seeing. */
  readonly preview: (ctx: CallContext) => Promise<Look<S>>;
  /** Lets exactly the held plan through, once. `PLAN_STALE` when nothing or another plan is held (Law 6). */
  readonly approve: (planId: string | undefined, ctx: CallContext) => Promise<Look<S>>;
}

/** Which mode a recorded phase means; a freed rule has no loop. */
export const modeOf = (phase: Exclude<RuleRecord['phase'], 'freed'>): Mode =>
  phase === 'active' ? 'keep' : phase === 'held' ? 'watch' : 'empty';

const emptied = { kind: 'known', items: [], target: 0, count: 0, phase: 'destroyed' } as const;

const byDestroy: Explanation = { by: 'empty', reason: 'destroyed' };

/** The rule as a mode has it kept. */
export const inMode = <S, O>(rule: Rule<S, O>, mode: Mode): Rule<S, O> => {
  switch (mode) {
    case 'keep':
      return rule;
    case 'watch':
      return { ...rule, settings: { ...rule.settings, policy: 'observe' } };
    case 'empty':
      return {
        ...rule,
        readSource: async () => emptied,
        keys: (source, observed) => ({ ...rule.keys(source, observed), explain: () => byDestroy }),
      };
    default:
      return mode satisfies never;
  }
};

/** Starts the loop of an accepted rule. `seen` hears of each outcome. */
export const ruleLife = <S, O>(
  accepted: Accepted<S, O>,
  mode: Mode,
  use: {
    readonly memory: CycleMemory;
    readonly deps: Omit<CycleDeps, 'wake'>;
    readonly seen: (outcome: CycleOutcome) => void;
  },
): RuleLife<S> => {
  const { memory, deps } = use;
  const rule = inMode(accepted.rule, mode);
  const nudges = new Subject<void>();
  const stopped = new Subject<void>();
  let last: CycleOutcome | null = null;
  const cycles: Observable<CycleOutcome> = loop(
    rule,
    { memory, deps, timing: accepted.timing, stop: stopped },
    merge(accepted.triggers, nudges),
  );
  const ended = new Promise<void>((resolve) => {
    cycles.subscribe({
      next: (outcome) => {
        last = outcome;
        use.seen(outcome);
      },
      complete: resolve,
    });
  });

  /** Waits for its turn and works, all of it within the caller's deadline (Law 10); what comes too late does not begin. */
  const inTurn = <T>(what: string, ctx: CallContext, work: (own: CallContext) => Promise<T>): Promise<T> =>
    bounded(
      (own) =>
        memory.exclusive(async () => {
          own.signal.throwIfAborted();
          return work(own);
        }),
      ctx,
      { clock: deps.clock, what: `${what} of ${rule.name}`, timeoutMs: ctx.timeoutMs },
    );

  const preview = async (ctx: CallContext): Promise<Look<S>> => {
    const seen = await look(rule, { memory, deps: { ...deps, wake: () => nudges.next() }, ctx });
    if ('at' in seen) throw seen.error;
    return seen;
  };

  return {
    nudge: () => nudges.next(),
    stop: () => {
      stopped.next();
      return ended;
    },
    outcome: () => last,
    preview: (ctx) => inTurn('a look', ctx, preview),
    approve: async (planId, ctx) => {
      const seen = await inTurn('the approval', ctx, async (own) => {
        const now = await preview(own);
        const { record } = now;
        if (record === null) throw new AppError('STORE_UNAVAILABLE', 'the budget record cannot be read');
        const ledger = approve(now.admission.ledger, planId);
        const save = (saving: CallContext) => memory.ledger.save({ ...record, ledger }, saving);
        await bounded(save, own, boundsOf(rule, deps.clock, 'saving the approval'));
        return now;
      });
      nudges.next();
      return seen;
    },
  };
};
