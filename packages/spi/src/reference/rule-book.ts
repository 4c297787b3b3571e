import { AppError, type ErrorCode, matchesTags, type Spec, type SpecObject } from '@infrakit/core';
import type { Controller, PlanText, Search } from '../controller.ts';
import type { RuleProgress, RuleStatus } from '../rule-status.ts';

/** One committed rule. */
export interface Rule {
  readonly spec: Spec;
  readonly revision: number;
  readonly isFreed: boolean;
  readonly isHeld: boolean;
}

/** What a kind of controller does with its rules. */
export interface RuleWork {
  /** The code for a name that was never known. */
  readonly unknownName: ErrorCode;
  /** Throws for a spec that must not take the place of the present rule. */
  readonly check: (spec: Spec, present: Rule | undefined) => void;
  readonly plan: (operation: 'commit' | 'destroy', spec: Spec) => PlanText;
  /** Makes reality follow a spec that was just committed. */
  readonly enforce: (name: string) => void;
  /** Catches up with what happened during a hold. */
  readonly resume: (name: string) => void;
  /** Undoes what the rule has made; the rule is forgotten right after. */
  readonly release: (name: string) => void;
  readonly state: (name: string) => unknown;
  /** How far an active rule is. */
  readonly progress: (name: string) => RuleProgress;
}

/** The part of a controller that is bookkeeping, the same for every kind. */
export interface RuleBook {
  readonly methods: Pick<
    Controller,
    'plan' | 'commit' | 'describe' | 'status' | 'free' | 'destroy' | 'spec' | 'hold' | 'resume'
  >;
  readonly names: () => string[];
  /** The rule of that name; throws when there is none. */
  readonly rule: (name: string) => Rule;
  readonly isActive: (name: string) => boolean;
  /** Puts another spec in force at the same revision, and acts on it. */
  readonly amend: (name: string, spec: Spec) => void;
}

/** Rules by name, with revisions, pauses and holds as the interface of controllers wants them. */
export const ruleBook = (work: RuleWork): RuleBook => {
  const rules = new Map<string, Rule>();
  const known = new Set<string>();

  const demandKnown = (name: string): void => {
    if (!known.has(name)) throw new AppError(work.unknownName, `there is no ${name}`, { facts: { name } });
  };
  const rule = (name: string): Rule => {
    const found = rules.get(name);
    if (found === undefined) throw new AppError(work.unknownName, `there is no ${name}`, { facts: { name } });
    return found;
  };
  const objectOf = (spec: Spec): SpecObject => {
    const { name } = spec.metadata;
    return { ...spec, metadata: { ...spec.metadata, id: name }, state: work.state(name) };
  };
  const objectsOf = (name: string): SpecObject[] => {
    const found = rules.get(name);
    return found === undefined ? [] : [objectOf(found.spec)];
  };
  const found = ({ name, tags }: Search): Rule[] =>
    [...rules.values()]
      .filter(({ spec }) => name === undefined || spec.metadata.name === name)
      .filter(({ spec }) => matchesTags(spec.metadata.tags, tags));
  const statusOf = ({ spec, revision, isFreed, isHeld }: Rule): RuleStatus => {
    const { name } = spec.metadata;
    if (isFreed) return { name, revision, phase: 'freed', progress: { kind: 'converged' } };
    if (isHeld) return { name, revision, phase: 'held', progress: { kind: 'held', reason: 'held by hand' } };
    return { name, revision, phase: 'active', progress: work.progress(name) };
  };
  const put = (next: Rule): void => {
    const { name } = next.spec.metadata;
    rules.set(name, next);
    known.add(name);
    work.enforce(name);
  };
  const commit = (spec: Spec, revision: number): void => {
    const { name } = spec.metadata;
    const present = rules.get(name);
    if (present !== undefined && revision < present.revision) {
      throw new AppError('REVISION_STALE', `${name} is at revision ${present.revision}; ${revision} is older`);
    }
    if (present?.revision === revision && !present.isFreed) return;
    work.check(spec, present);
    put({ spec, revision, isFreed: false, isHeld: false });
  };

  return {
    methods: {
      plan: async ({ operation, spec }) => {
        const present = rules.get(spec.metadata.name);
        if (operation === 'commit') work.check(spec, present);
        else demandKnown(spec.metadata.name);
        return { object: objectOf(spec), plan: work.plan(operation, spec) };
      },
      commit: async ({ spec, revision }) => {
        commit(spec, revision);
        return { object: objectOf(rule(spec.metadata.name).spec) };
      },
      describe: async ({ search }) => ({ objects: found(search).map(({ spec }) => objectOf(spec)) }),
      status: async ({ search }) => ({ statuses: found(search).map(statusOf) }),
      free: async ({ name }) => {
        demandKnown(name);
        const found = rules.get(name);
        if (found !== undefined) rules.set(name, { ...found, isFreed: true });
        return { objects: objectsOf(name) };
      },
      destroy: async ({ name }) => {
        demandKnown(name);
        const objects = objectsOf(name);
        if (objects.length > 0) work.release(name);
        rules.delete(name);
        return { objects };
      },
      spec: async ({ name }) => {
        const { spec, revision } = rule(name);
        return { spec, revision };
      },
      hold: async ({ name }) => {
        rules.set(name, { ...rule(name), isHeld: true });
        return {};
      },
      resume: async ({ name }) => {
        rules.set(name, { ...rule(name), isHeld: false });
        work.resume(name);
        return {};
      },
    },
    names: () => [...rules.keys()],
    rule,
    isActive: (name) => {
      const found = rules.get(name);
      return found !== undefined && !found.isFreed && !found.isHeld;
    },
    amend: (name, spec) => put({ ...rule(name), spec, isHeld: false }),
  };
};
