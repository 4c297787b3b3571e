import { onCommit } from '@infrakit/core';
import type { CallContext } from '@infrakit/spi';
import { type BudgetRecord, type LedgerStore, nothing } from '../log/ledger-store.ts';
import type { CycleDeps } from '../loop/cycle-deps.ts';
import { cycleMemory } from '../loop/cycle-memory.ts';
import { type Look, look } from '../loop/look.ts';
import type { KeptRule } from './rule-book.ts';
import type { Accepted } from './rule-kind.ts';
import { inMode } from './rule-life.ts';

/** A ledger that can be read and forgets what is written: for looks that must not change anything (Law 3). */
const readOnly = (record: BudgetRecord): LedgerStore => ({
  load: async () => record,
  save: async () => undefined,
  remove: async () => undefined,
});

const lookAs = async <S, O>(
  accepted: Accepted<S, O>,
  mode: 'keep' | 'empty',
  use: { readonly record: BudgetRecord; readonly deps: Omit<CycleDeps, 'wake'>; readonly ctx: CallContext },
): Promise<Look<S>> => {
  const deps: CycleDeps = { ...use.deps, wake: () => undefined };
  const seen = await look(inMode(accepted.rule, mode), {
    memory: cycleMemory(readOnly(use.record)),
    deps,
    ctx: use.ctx,
  });
  if ('at' in seen) throw seen.error;
  return seen;
};

/** What the first cycle after this commit would find to do, if it were made now. */
export const previewCommit = async <S, O>(
  accepted: Accepted<S, O>,
  known: KeptRule<S, O> | undefined,
  use: { readonly deps: Omit<CycleDeps, 'wake'>; readonly ctx: CallContext },
): Promise<Look<S>> => {
  const before = known === undefined ? nothing : await known.memory.ledger.load(use.ctx);
  const isMoved = known !== undefined && known.record.sourceHash !== accepted.sourceHash;
  const commit = isMoved ? { revision: known.record.revision + 1, ids: null } : before.commit;
  return lookAs(accepted, 'keep', { ...use, record: { ledger: onCommit(before.ledger), commit } });
};

/** What emptying the sink of this rule would do. */
export const previewDestroy = <S, O>(
  accepted: Accepted<S, O>,
  use: { readonly deps: Omit<CycleDeps, 'wake'>; readonly ctx: CallContext },
): Promise<Look<S>> => lookAs(accepted, 'empty', { ...use, record: nothing });
