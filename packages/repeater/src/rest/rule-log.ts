import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { openFactLog } from '@infrakit/runtime';
import type { Log } from '@infrakit/spi';
import { z } from 'zod';
import { AppRule } from './app-rule.ts';

/** A rule with what must be the same after a restart, since sessions at the brokers go by it. */
export const KeptRule = z.strictObject({
  ...AppRule.shape,
  id: z.string(),
  createdMs: z.number(),
  lanes: z.array(z.number()),
});
export type KeptRule = z.infer<typeof KeptRule>;

const Fact = z.strictObject({ identity: z.string(), rules: z.array(KeptRule) });

/** The durable rules of one application (GP-R14). */
export interface RuleLog {
  /** Made at the first start, the same ever after. */
  readonly identity: string;
  readonly rules: readonly KeptRule[];
  /** Durable when it resolves. */
  readonly write: (rules: readonly KeptRule[]) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Opens the rules kept at `path`; the last complete record counts. */
export const openRuleLog = async (
  path: string,
  deps: { readonly newId: () => string; readonly log: Log },
): Promise<RuleLog> => {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const { facts, factLog } = await openFactLog(path, deps.log);
  const last = facts.flatMap((fact) => Fact.safeParse(fact).data ?? []).at(-1);
  const { identity, rules } = last ?? { identity: deps.newId(), rules: [] };
  const factOf = (kept: readonly KeptRule[]) => ({ identity, rules: kept.map((rule) => ({ ...rule })) });
  if (last === undefined) await factLog.append(factOf([]), () => undefined);
  return {
    identity,
    rules,
    write: async (next) => {
      await factLog.append(factOf(next), () => undefined);
      factLog.trim(1, () => [factOf(next)]);
    },
    close: factLog.close,
  };
};
