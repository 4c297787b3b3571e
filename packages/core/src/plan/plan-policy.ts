import type { Act, Plan } from './act.ts';
import { isChange, planId } from './plan-id.ts';
import { knownPolicy } from './plan-withhold.ts';

/**
 * What a rule may change at all. `sync`: everything. `upsert-only`: nothing is destroyed or reduced. `create-only`: nothing
 * that exists is changed either. `observe`: nothing.
 */
export const policies = ['sync', 'upsert-only', 'create-only', 'observe'] as const;
export type Policy = (typeof policies)[number];

const allowed: Readonly<Record<Policy, readonly Act['kind'][]>> = {
  sync: ['create', 'label', 'replace', 'destroy', 'duplicate'],
  'upsert-only': ['create', 'label', 'replace'],
  'create-only': ['create'],
  observe: [],
};

/**
 * A pure filter that only removes acts; reports stay. The id of the result is that of the acts left; a plan from which nothing
 * is removed is returned as it is. Errors: `ARGUMENT_INVALID` for an unknown policy.
 */
export const applyPolicy = (plan: Plan, policy: Policy): Plan => {
  const kinds = new Set<Act['kind']>(allowed[knownPolicy(policy, policies)]);
  const acts = plan.acts.filter((act) => kinds.has(act.kind) || !isChange(act));
  return acts.length === plan.acts.length ? plan : { id: planId(acts), acts };
};
