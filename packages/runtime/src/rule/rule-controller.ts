import { AppError, matchesTags, objectName, ownerLabel, type Spec, type SpecObject } from '@infrakit/core';
import type { CallContext, Controller, PlanText, RuleStatus, Search } from '@infrakit/spi';
import type { Look } from '../loop/look.ts';
import { actLine } from '../loop/plan-lines.ts';
import { progressOf } from '../loop/progress.ts';
import { heldOf } from '../loop/reconcile.ts';
import { bounded } from '../work/bounded.ts';
import { type KeptRule, notFound, type RuleBook, type RuleBookDeps, ruleBook } from './rule-book.ts';
import type { Accepted, RuleKind } from './rule-kind.ts';
import { previewCommit, previewDestroy } from './rule-preview.ts';

/** How long a destroy that leaves everything looks for what it leaves, in ms: a sink that is away does not hold it up. */
const countMs = 2_000;

/** A controller on the loop: its SPI, its rules by name, and how it ends. */
export interface RuleController<S, O> {
  readonly controller: Controller;
  readonly book: RuleBook<S, O>;
}

/**
 * The Controller SPI over a book of rules: all that controllers have in common (EI §2, DESIGN §1). What differs is in
 * `kind`. Names are taken bare or with the controller's own lookup (`builders`, `nfs/builders`).
 */
export const ruleController = <S, O>(kind: RuleKind<S, O>, deps: RuleBookDeps): RuleController<S, O> => {
  const book = ruleBook(kind, deps);

  const nameOf = (spec: Spec): string => {
    if (spec.kind !== kind.kind) {
      throw new AppError('SPEC_INVALID', `${deps.name} keeps specs of kind ${kind.kind}, not ${spec.kind}`);
    }
    return objectName(deps.name, spec.metadata.name);
  };

  const ruleOf = (name: string): KeptRule<S, O> => {
    const rule = book.find(objectName(deps.name, name));
    if (rule === undefined) throw notFound(kind, deps.name, name);
    return rule;
  };

  /** Freeing or destroying what was destroyed already is no error (EI-C1). */
  const isGone = (name: string): boolean => {
    const own = objectName(deps.name, name);
    return book.find(own) === undefined && book.wasKnown(own);
  };

  const liveOf = (name: string) => {
    const { life } = ruleOf(name);
    if (life === null) throw new AppError('RULE_HELD', `${name} is freed: commit it again to resume it`);
    return life;
  };

  const objectOf = (rule: KeptRule<S, O>): SpecObject => ({
    ...rule.spec,
    metadata: { ...rule.spec.metadata, id: rule.name, name: rule.name },
    state: kind.stateOf(rule.life?.outcome() ?? null, rule.accepted),
  });

  const statusOf = (rule: KeptRule<S, O>): RuleStatus => {
    const { name, record, accepted, memory, life } = rule;
    const { revision, phase, reason } = record;
    const general = progressOf(life?.outcome() ?? null, { phase, reason, underWay: memory.underWay.size });
    const isOwn = life?.outcome() != null && (general.kind === 'converged' || general.kind === 'working');
    return { name, revision, phase, progress: (isOwn ? kind.progress?.(accepted) : undefined) ?? general };
  };

  const textOf = (seen: Look<S>, accepted: Accepted<S, O>): PlanText => ({
    id: seen.plan.id,
    messages: [...kind.planLines(seen.plan, seen, accepted)],
    warnings: [...accepted.warnings, ...(heldOf(seen) === null ? [] : [`held: ${heldOf(seen)?.reason}`])],
  });

  const found = (search: Search): KeptRule<S, O>[] => {
    const name = search.name === undefined ? undefined : objectName(deps.name, search.name);
    return book
      .names()
      .flatMap((known) => book.find(known) ?? [])
      .filter((rule) => name === undefined || rule.name === name)
      .filter((rule) => matchesTags(rule.spec.metadata.tags, search.tags));
  };

  const planCommit = async (spec: Spec, ctx: CallContext) => {
    const name = nameOf(spec);
    const known = book.find(name);
    const revision = (known?.record.revision ?? 0) + 1;
    const accepted = await kind.accept(spec, revision, ownerLabel(deps.stackId, deps.name, name), ctx);
    const seen = await previewCommit(accepted, known, { deps, ctx });
    return { object: { ...spec, metadata: { ...spec.metadata, name } }, plan: textOf(seen, accepted) };
  };

  const planDestroy = async (name: string, ctx: CallContext) => {
    const rule = ruleOf(name);
    const { accepted } = rule;
    if (accepted.onDestroy === 'leave') {
      const plan = { id: 'leave', messages: ['leave everything downstream as it is'], warnings: [] };
      return { object: objectOf(rule), plan };
    }
    return { object: objectOf(rule), plan: textOf(await previewDestroy(accepted, { deps, ctx }), accepted) };
  };

  /** What a destroyed rule has left downstream, and why; undefined where nothing is. Looked for when its loop has ended. */
  const leftBy = async ({ name, accepted }: KeptRule<S, O>, ctx: CallContext): Promise<string | undefined> => {
    if (accepted.onDestroy !== 'leave') return undefined;
    const bounds = { clock: deps.clock, what: `counting what ${name} leaves`, timeoutMs: countMs };
    const count = await bounded((own) => previewDestroy(accepted, { deps, ctx: own }), ctx, bounds).then(
      ({ plan }) => plan.acts.filter(({ kind: act }) => act !== 'foreign').length,
      () => null,
    );
    if (count === 0) return undefined;
    return kind.leftLine?.(count, accepted) ?? `${count ?? 'all'} entries of ${name} stay downstream`;
  };

  const enter = async (
    name: string,
    phase: 'freed' | 'held' | 'active' | 'destroying',
    reason: string,
    ctx: CallContext,
  ) => {
    if (isGone(name)) return { objects: [] };
    const before = objectOf(ruleOf(name));
    await book.enter(before.metadata.name, phase, reason, ctx);
    return { objects: [before] };
  };

  const controller: Controller = {
    plan: ({ operation, spec }, ctx) =>
      operation === 'commit' ? planCommit(spec, ctx) : planDestroy(spec.metadata.name, ctx),
    commit: async (given, ctx) => {
      const rule = await book.commit(nameOf(given.spec), given, ctx);
      return { object: objectOf(rule) };
    },
    describe: async ({ search }) => ({ objects: found(search).map(objectOf) }),
    status: async ({ search }) => ({ statuses: found(search).map(statusOf) }),
    free: ({ name }, ctx) => enter(name, 'freed', '', ctx),
    // Answers when what is ours downstream is gone too; past its deadline the work goes on by itself (GP-G10).
    destroy: async ({ name }, ctx) => {
      const rule = book.find(objectName(deps.name, name));
      const before = await enter(name, 'destroying', '', ctx);
      await book.gone(objectName(deps.name, name));
      const left = rule && (await leftBy(rule, ctx));
      return left === undefined ? before : { ...before, left };
    },
    spec: async ({ name }) => {
      const { spec, record } = ruleOf(name);
      return { spec, revision: record.revision };
    },
    approve: async ({ name, plan }, ctx) => {
      const { accepted } = ruleOf(name);
      return { plan: textOf(await liveOf(name).approve(plan, ctx), accepted) };
    },
    hold: async ({ name, reason }, ctx) => {
      liveOf(name);
      await enter(name, 'held', reason, ctx);
      return {};
    },
    resume: async ({ name }, ctx) => {
      if (ruleOf(name).record.phase === 'held') await enter(name, 'active', '', ctx);
      return {};
    },
    explain: async ({ name, entry }, ctx) => {
      const { plan } = await liveOf(name).preview(ctx);
      const about = plan.acts.filter(
        (act) =>
          ('id' in act && act.id === entry) ||
          ('key' in act && act.key === entry) ||
          ('sourceId' in act && act.sourceId === entry),
      );
      if (about.length === 0) throw new AppError('MEMBER_UNKNOWN', `neither side of ${name} has an entry ${entry}`);
      return {
        lines: about.map((act) => actLine(act) ?? `keep ${'id' in act ? act.id : entry}: wanted, and there`),
      };
    },
    adopt: async ({ name, ids }, ctx) => {
      const { accepted } = ruleOf(name);
      const life = liveOf(name);
      const { keyed, plan } = await life.preview(ctx);
      const idsOf = (kind: 'untagged' | 'ours'): string[] =>
        keyed.observed.filter(({ ownership }) => ownership.kind === kind).map(({ id }) => id);
      const untagged = idsOf('untagged');
      const known = new Set([...untagged, ...idsOf('ours')]);
      const unknown = (ids ?? []).filter((id) => !known.has(id));
      if (unknown.length > 0) {
        throw new AppError('MEMBER_UNKNOWN', `${name} cannot adopt ${unknown.join(', ')}: no such untagged entry`);
      }
      const sources = new Map(
        plan.acts.flatMap((act) => (act.kind === 'keep' ? [[act.id, act.sourceId] as const] : [])),
      );
      const adopted = untagged.filter((id) => ids === undefined || ids.includes(id));
      for (const id of adopted) await accepted.rule.label(id, sources.get(id), ctx);
      life.nudge();
      return { adopted: [...adopted] };
    },
  };
  return { controller, book };
};
