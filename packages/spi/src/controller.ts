import { Spec, SpecObject } from '@infrakit/core';
import { z } from 'zod';
import { mutating, reading, type SpiOf } from './interface.ts';
import { RuleStatus } from './rule-status.ts';

const Revision = z.number().int().min(1);
const Name = z.string().min(1);

/** Which objects are meant: by name, by tags that must all be there, or all of them when both are left out (EI-C9). */
export const Search = z.strictObject({
  name: Name.optional(),
  tags: z.record(z.string(), z.string()).optional(),
});
export type Search = z.infer<typeof Search>;

/** A plan as a person reads it: one line an act, warnings apart, and the id that `approve` takes. */
export const PlanText = z.strictObject({
  id: z.string().min(1),
  messages: z.array(z.string()),
  warnings: z.array(z.string()),
});
export type PlanText = z.infer<typeof PlanText>;

const Objects = z.strictObject({ objects: z.array(SpecObject) });
/** `left` says what stays downstream of what the rule made, and why; it is left out where nothing does. */
const Destroyed = Objects.extend({ left: z.string().min(1).optional() });
const Rule = z.strictObject({ name: Name });
const Planned = z.strictObject({ object: SpecObject, plan: PlanText });

/**
 * Makes reality follow specs, one rule a spec (EI §2.1 and §1.11, with what the old system only planned).
 *
 * - `plan` says what `commit` or `destroy` would do and changes nothing (Law 3).
 * - `commit` is all or nothing and idempotent by revision; an older revision than the one in force is `REVISION_STALE`.
 *   After `free` it resumes. `freed`: it is taken as freed from the start, for a spec that is given back.
 * - `describe` of a name that is not there is an empty list.
 * - `status` says how far the rules of a search are; one that was only just committed is not converged before it was looked at.
 * - `free` pauses and touches nothing downstream; `destroy` also forgets the rule, and says what it left downstream. Both are idempotent once the name was
 *   known; a name never known is `RULE_NOT_FOUND`.
 * - `spec` is the committed spec, with its revision.
 * - `approve` lets exactly the held plan through, once; another plan id than the present one is `PLAN_STALE` (Law 6).
 * - `hold` stops acting until `resume` or a commit; describing goes on.
 * - `explain` tells why a key or an entry is where it is.
 * - `adopt` takes untagged entries over (Law 4); without ids, all of the rule's.
 */
export const controllerInterface = {
  name: 'Controller',
  version: '1.0.0',
  methods: {
    plan: reading(z.strictObject({ operation: z.enum(['commit', 'destroy']), spec: Spec }), Planned, {
      timeoutMs: 30_000,
    }),
    commit: mutating(
      z.strictObject({ spec: Spec, revision: Revision, freed: z.boolean().optional() }),
      z.strictObject({ object: SpecObject }),
      { timeoutMs: 30_000 },
    ),
    describe: reading(z.strictObject({ search: Search }), Objects),
    status: reading(z.strictObject({ search: Search }), z.strictObject({ statuses: z.array(RuleStatus) })),
    free: mutating(Rule, Objects),
    destroy: mutating(Rule, Destroyed, { timeoutMs: 30_000 }),
    spec: reading(Rule, z.strictObject({ spec: Spec, revision: Revision })),
    approve: mutating(
      z.strictObject({ name: Name, plan: z.string().min(1).optional() }),
      z.strictObject({ plan: PlanText }),
    ),
    hold: mutating(z.strictObject({ name: Name, reason: z.string() }), z.strictObject({})),
    resume: mutating(Rule, z.strictObject({})),
    explain: reading(
      z.strictObject({ name: Name, entry: z.string().min(1) }),
      z.strictObject({ lines: z.array(z.string()) }),
    ),
    adopt: mutating(
      z.strictObject({ name: Name, ids: z.array(z.string().min(1)).optional() }),
      z.strictObject({ adopted: z.array(z.string()) }),
    ),
  },
} as const;

/** {@link controllerInterface} as TypeScript. */
export type Controller = SpiOf<typeof controllerInterface>;
