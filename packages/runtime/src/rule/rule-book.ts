import { AppError, digest, onCommit, ownerLabel, type Spec, toAppError } from '@infrakit/core';
import {
  type CallContext,
  type Condition,
  direct,
  type Journal,
  journalInterface,
  type ObjectState,
  type StatePublisher,
} from '@infrakit/spi';
import { ledgerStore } from '../log/ledger-store.ts';
import type { CycleDeps } from '../loop/cycle-deps.ts';
import { type CycleMemory, cycleMemory } from '../loop/cycle-memory.ts';
import type { CycleOutcome } from '../loop/outcome.ts';
import { bounded } from '../work/bounded.ts';
import { type Serial, serial } from '../work/serial.ts';
import { conditionsOf } from './conditions.ts';
import type { Accepted, RuleKind } from './rule-kind.ts';
import { modeOf, type RuleLife, ruleLife } from './rule-life.ts';
import { type RuleRecord, readRuleRecord, removeRuleRecord, writeRuleRecord } from './rule-record.ts';

/** A committed rule, in whatever phase. */
export interface KeptRule<S, O> {
  readonly name: string;
  readonly spec: Spec;
  readonly specHash: string;
  readonly record: RuleRecord;
  readonly accepted: Accepted<S, O>;
  readonly memory: CycleMemory;
  /** Null while freed. */
  readonly life: RuleLife<S> | null;
  readonly conditions: readonly Condition[];
}

/** What the rules of a controller are kept with. */
export interface RuleBookDeps extends Omit<CycleDeps, 'wake'> {
  /** The controller's own name, part of its owner labels and rule names. */
  readonly name: string;
  readonly stackId: string;
  readonly journal: Journal;
  readonly state: StatePublisher;
  /** The list of rules is another one from now on. */
  readonly changed: () => void;
}

/** A spec to be kept; `freed`: it is known and not acted on, from the start. */
export interface GivenSpec {
  readonly spec: Spec;
  readonly revision: number;
  readonly freed?: boolean | undefined;
}

/** The rules of one controller: by name, each changed by one call at a time, none blocking another (EI-C10). */
export interface RuleBook<S, O> {
  readonly names: () => readonly string[];
  readonly find: (name: string) => KeptRule<S, O> | undefined;
  /** Whether there was a rule of that name in the life of this process, though it is destroyed now. */
  readonly wasKnown: (name: string) => boolean;
  /** Validates, stores, then swaps the loops; a failure leaves everything as it was (EI-C3, EI-C4). */
  readonly commit: (name: string, given: GivenSpec, ctx: CallContext) => Promise<KeptRule<S, O>>;
  /** Brings a rule into a phase, durably. `destroying` ends by itself when nothing of ours is left downstream. */
  readonly enter: (name: string, phase: RuleRecord['phase'], reason: string, ctx: CallContext) => Promise<void>;
  /** Another text of the spec in force, which changes nothing about its loop; the kind has made it durable. */
  readonly amend: (name: string, spec: Spec) => void;
  /** Publishes the state of a rule again, since the kind knows more of it. Nothing before its first cycle. */
  readonly refresh: (name: string) => void;
  /** Resolves when there is no rule of that name. */
  readonly gone: (name: string) => Promise<void>;
  readonly stop: () => Promise<void>;
}

const isEmptied = (outcome: CycleOutcome, memory: CycleMemory): boolean =>
  outcome.kind === 'completed' &&
  memory.destroying.size + memory.underWay.size === 0 &&
  outcome.plan.acts.every((act) => act.kind === 'foreign' || (act.kind === 'duplicate' && !act.reduce));

/** The error for a name that a controller does not keep. */
export const notFound = <S, O>(kind: RuleKind<S, O>, controller: string, name: string): AppError =>
  kind.notFound?.(name) ?? new AppError('RULE_NOT_FOUND', `${controller} has no rule ${name}`);

const ending = (): CallContext => ({ signal: new AbortController().signal, timeoutMs: 10_000 });

/** An empty book. */
export const ruleBook = <S, O>(kind: RuleKind<S, O>, deps: RuleBookDeps): RuleBook<S, O> => {
  const rules = new Map<string, KeptRule<S, O>>();
  const turns = new Map<string, Serial>();
  const destroyed = new Set<string>();
  const waiting = new Map<string, (() => void)[]>();
  // The deadlines of whoever calls hold for the store as well (Law 10).
  const journal = direct(journalInterface, deps.journal, { after: deps.clock.after });

  const inTurn = <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const turn = turns.get(name) ?? serial();
    turns.set(name, turn);
    return turn(work);
  };

  /** A call of a hook: what hangs there holds up the rule no longer than the caller waits (Law 10). */
  const within = <T>(what: string, ctx: CallContext, call: (own: CallContext) => Promise<T>): Promise<T> =>
    bounded(call, ctx, { clock: deps.clock, what, timeoutMs: ctx.timeoutMs });

  const retire = async (name: string, accepted: Accepted<S, O>, next: Accepted<S, O> | null): Promise<void> => {
    const { retire: leave } = accepted;
    if (leave === undefined) return;
    await within(`ending the old spec of ${name}`, ending(), (own) => leave(next, own)).catch((thrown: unknown) =>
      deps.log.warn({ rule: name, error: toAppError(thrown).message }, 'an old spec could not be ended in order'),
    );
  };

  const forget = async (name: string, memory: CycleMemory): Promise<void> => {
    const rule = rules.get(name);
    const { forgetting } = rule?.accepted ?? {};
    if (forgetting !== undefined) await within(`forgetting ${name}`, ending(), forgetting);
    await rule?.life?.stop();
    if (rule !== undefined) await retire(name, rule.accepted, null);
    await memory.ledger.remove(ending());
    await removeRuleRecord(journal, name, ending());
    rules.delete(name);
    destroyed.add(name);
    for (const resolve of waiting.get(name) ?? []) resolve();
    waiting.delete(name);
    deps.state.clear(name);
    deps.changed();
  };

  const publish = (name: string, outcome: CycleOutcome): void => {
    const rule = rules.get(name);
    if (rule === undefined) return;
    const conditions = conditionsOf(outcome, rule.conditions);
    rules.set(name, { ...rule, conditions });
    const state: ObjectState = {
      kind: kind.kind,
      revision: rule.record.revision,
      specHash: rule.specHash,
      conditions: [...conditions],
      counts: outcome.kind === 'completed' ? { ...outcome.counts } : {},
      digest: outcome.kind === 'completed' ? outcome.plan.id : '',
    };
    deps.state.publish(name, kind.published === undefined ? state : kind.published(state, rule.accepted));
  };

  const begin = (rule: Omit<KeptRule<S, O>, 'life' | 'specHash'>): KeptRule<S, O> => {
    const { name, record, accepted, memory } = rule;
    const seen = (outcome: CycleOutcome): void => {
      accepted.seen?.(outcome);
      publish(name, outcome);
      if (record.phase === 'destroying' && isEmptied(outcome, memory)) {
        inTurn(name, async () => {
          if (rules.get(name)?.record === record) await forget(name, memory);
        }).catch((error: unknown) => deps.log.warn({ rule: name, error }, 'an emptied rule could not be forgotten'));
      }
    };
    const { phase } = record;
    accepted.begun?.(phase);
    const life = phase === 'freed' ? null : ruleLife(accepted, modeOf(phase), { memory, deps, seen });
    const kept = { ...rule, life, specHash: digest(rule.spec) };
    rules.set(name, kept);
    return kept;
  };

  const recordCommit = async (
    before: RuleRecord | null,
    record: RuleRecord,
    memory: CycleMemory,
    name: string,
    ctx: CallContext,
  ) => {
    await memory.exclusive(async () => {
      const budget = await memory.ledger.load(ctx);
      const isMoved = before !== null && before.sourceHash !== record.sourceHash;
      const commit = isMoved ? { revision: record.revision, ids: null } : budget.commit;
      await memory.ledger.save({ ledger: onCommit(budget.ledger), commit }, ctx);
    });
    await writeRuleRecord(journal, name, record, ctx);
  };

  const commit = async (name: string, given: GivenSpec, ctx: CallContext): Promise<KeptRule<S, O>> => {
    const { spec, revision, freed = false } = given;
    const known = rules.get(name);
    const phase = known?.record.phase;
    if (known?.record.revision === revision && (phase === 'active' || phase === 'held')) return known;
    const before = await readRuleRecord(journal, name, ctx);
    if (before !== null && revision < before.revision) {
      throw new AppError(
        'REVISION_STALE',
        `revision ${revision} of ${name} is older than ${before.revision}, which is in force`,
      );
    }
    const owner = ownerLabel(deps.stackId, deps.name, name);
    const accepted = await within(`validating ${name}`, ctx, (own) => kind.accept(spec, revision, owner, own));
    const memory = known?.memory ?? cycleMemory(ledgerStore(journal, `${deps.name}/${name}`));
    // After a restart the same revision is the manager giving a spec back, which does not resume a freed rule (GP-M9).
    const isReplay = known === undefined && before?.revision === revision;
    const taken: RuleRecord = isReplay
      ? before
      : { revision, sourceHash: accepted.sourceHash, phase: 'active', reason: '' };
    const record: RuleRecord = freed ? { ...taken, phase: 'freed' } : taken;
    await known?.life?.stop();
    try {
      if (!isReplay) {
        const { committing } = accepted;
        if (committing !== undefined) await within(`preparing the commit of ${name}`, ctx, committing);
        await recordCommit(before, record, memory, name, ctx);
      } else if (record.phase !== before.phase) await writeRuleRecord(journal, name, record, ctx);
    } catch (thrown) {
      if (known !== undefined) begin(known);
      throw thrown;
    }
    memory.creating.clear();
    if (known !== undefined) void retire(name, known.accepted, accepted);
    const kept = begin({ name, spec, record, accepted, memory, conditions: known?.conditions ?? [] });
    deps.changed();
    return kept;
  };

  const enter = async (name: string, phase: RuleRecord['phase'], reason: string, ctx: CallContext): Promise<void> => {
    const rule = rules.get(name);
    if (rule === undefined) throw notFound(kind, deps.name, name);
    if (rule.record.phase === phase && rule.record.reason === reason) return;
    const record = { ...rule.record, phase, reason };
    await writeRuleRecord(journal, name, record, ctx);
    await rule.life?.stop();
    if (phase === 'destroying' && rule.accepted.onDestroy === 'leave') await forget(name, rule.memory);
    else begin({ ...(rules.get(name) ?? rule), record });
  };

  return {
    names: () => [...rules.keys()].sort(),
    find: (name) => rules.get(name),
    wasKnown: (name) => destroyed.has(name),
    commit: (name, given, ctx) => inTurn(name, () => commit(name, given, ctx)),
    enter: (name, phase, reason, ctx) => inTurn(name, () => enter(name, phase, reason, ctx)),
    amend: (name, spec) => {
      const rule = rules.get(name);
      if (rule !== undefined) rules.set(name, { ...rule, spec, specHash: digest(spec) });
    },
    refresh: (name) => {
      const rule = rules.get(name);
      const outcome = rule?.life?.outcome();
      if (outcome != null) publish(name, outcome);
    },
    gone: (name) =>
      rules.has(name)
        ? new Promise((resolve) => waiting.set(name, [...(waiting.get(name) ?? []), resolve]))
        : Promise.resolve(),
    stop: async () => {
      await Promise.all([...rules.values()].map((rule) => rule.life?.stop()));
    },
  };
};
