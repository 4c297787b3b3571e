import { AppError, emptyLedger, Ledger } from '@infrakit/core';
import type { CallContext, Journal } from '@infrakit/spi';
import { z } from 'zod';

/**
 * What a rule keeps of its destroys across restarts (Law 6): the ledger of unexplained ones, and the entries that a
 * commit sent away. `ids` is null from the commit until the first look at the new source names them.
 */
export const BudgetRecord = z.strictObject({
  ledger: Ledger,
  commit: z.strictObject({ revision: z.number().int().min(1), ids: z.array(z.string()).nullable() }).nullable(),
});
export type BudgetRecord = z.infer<typeof BudgetRecord>;

/** The one budget record of a rule. Reads are answered from memory after the first; a save is durable when it answers. */
export interface LedgerStore {
  readonly load: (ctx: CallContext) => Promise<BudgetRecord>;
  /** Writes only what differs from the last record (Law 8). */
  readonly save: (record: BudgetRecord, ctx: CallContext) => Promise<void>;
  readonly remove: (ctx: CallContext) => Promise<void>;
}

/** The record of a rule that has none. */
export const nothing: BudgetRecord = { ledger: emptyLedger, commit: null };

/** The budget record of the rule `name` in a journal. `STORE_CORRUPT` when it cannot be read: then nothing unexplained is destroyed. */
export const ledgerStore = (journal: Journal, name: string): LedgerStore => {
  const key = `budget/${name}`;
  let known: BudgetRecord | undefined;
  return {
    load: async (ctx) => {
      if (known !== undefined) return known;
      const { found, value } = await journal.read({ key }, ctx);
      const parsed = BudgetRecord.safeParse(found ? value : nothing);
      if (!parsed.success) {
        throw new AppError('STORE_CORRUPT', `the budget record ${key} cannot be read: ${parsed.error.message}`);
      }
      known = parsed.data;
      return known;
    },
    save: async (record, ctx) => {
      if (known !== undefined && record.ledger === known.ledger && record.commit === known.commit) return;
      await journal.write({ key, value: record }, ctx);
      known = record;
    },
    remove: async (ctx) => {
      await journal.remove({ key }, ctx);
      known = nothing;
    },
  };
};
