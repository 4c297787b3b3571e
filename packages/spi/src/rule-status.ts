import { z } from 'zod';

/**
 * How far a rule is with the spec in force: done with it; at it, and what is missing; held, until a person acts (`plan` is
 * what `approve` takes, absent where `resume` ends it); or done but for entries without a usable key.
 */
export const RuleProgress = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('converged') }),
  z.strictObject({ kind: z.literal('working'), reason: z.string().min(1) }),
  z.strictObject({ kind: z.literal('held'), reason: z.string().min(1), plan: z.string().min(1).optional() }),
  z.strictObject({ kind: z.literal('quarantined'), reason: z.string().min(1) }),
]);
export type RuleProgress = z.infer<typeof RuleProgress>;

/** The phase that a rule was brought into by its last commit, free, hold, resume or destroy. */
export const RulePhase = z.enum(['active', 'freed', 'held', 'destroying']);
export type RulePhase = z.infer<typeof RulePhase>;

/** What is known of one rule, for whoever waits for it: nothing that was found under an earlier commit or phase counts. */
export const RuleStatus = z.strictObject({
  /** The name that its controller keeps it by, without a stack before it. */
  name: z.string().min(1),
  revision: z.number().int().min(1),
  phase: RulePhase,
  progress: RuleProgress,
});
export type RuleStatus = z.infer<typeof RuleStatus>;
