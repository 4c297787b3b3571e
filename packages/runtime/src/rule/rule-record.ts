import { AppError } from '@infrakit/core';
import { type CallContext, type Journal, RulePhase } from '@infrakit/spi';
import { z } from 'zod';

/** What a controller keeps of a rule across restarts, beside its budget: the spec itself is the manager's to keep. */
export const RuleRecord = z.strictObject({
  revision: z.number().int().min(1),
  sourceHash: z.string(),
  phase: RulePhase,
  reason: z.string().default(''),
});
export type RuleRecord = z.infer<typeof RuleRecord>;

const keyOf = (name: string): string => `rule/${name}`;

/** The record of a rule; null when there is none. `STORE_CORRUPT` when it cannot be read. */
export const readRuleRecord = async (journal: Journal, name: string, ctx: CallContext): Promise<RuleRecord | null> => {
  const { found, value } = await journal.read({ key: keyOf(name) }, ctx);
  if (!found) return null;
  const parsed = RuleRecord.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new AppError('STORE_CORRUPT', `the record of rule ${name} cannot be read: ${parsed.error.message}`);
};

/** Durable when it resolves. */
export const writeRuleRecord = async (
  journal: Journal,
  name: string,
  record: RuleRecord,
  ctx: CallContext,
): Promise<void> => {
  await journal.write({ key: keyOf(name), value: record }, ctx);
};

/** Forgets the rule. */
export const removeRuleRecord = async (journal: Journal, name: string, ctx: CallContext): Promise<void> => {
  await journal.remove({ key: keyOf(name) }, ctx);
};
