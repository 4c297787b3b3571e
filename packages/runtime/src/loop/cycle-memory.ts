import { type Act, type AppError, type BackoffTable, type ObservedEntry, retainKeys } from '@infrakit/core';
import type { LedgerStore } from '../log/ledger-store.ts';
import { type Serial, serial } from '../work/serial.ts';

interface Accepted {
  readonly id: string;
  readonly untilMs: number;
}

/** What a rule remembers from one cycle to the next. All but the ledger may be lost: the next look finds it again. */
export interface CycleMemory {
  readonly ledger: LedgerStore;
  /** Keys whose creation was accepted, until the sink shows them or their grace is over (EI-E15). */
  readonly creating: Map<string, Accepted>;
  /** Ids whose destroy was accepted, until the sink no longer shows them or their grace is over. */
  readonly destroying: Map<string, number>;
  /** Acts that outlived their cycle, by name; they are not begun a second time. */
  readonly underWay: Map<string, Act>;
  /** Why an act failed the last time, by name, until it succeeds or is no longer planned (GP-G22). */
  readonly errors: Map<string, AppError>;
  /** Digest of the source item that a creation failed with, by name: another one is tried without waiting. */
  readonly failedWith: Map<string, string>;
  backoff: BackoffTable;
  /** Id of the plan that the last cycle acted on and asked to see confirmed; null when it did nothing. */
  confirming: string | null;
  /** Up to which membership revision departures were settled. */
  settledRevision: number;
  /** Cycles and whatever else reads and writes the budget record take turns. */
  readonly exclusive: Serial;
  /** The last look that found nothing to do, and what it looked at: the same again needs no new plan. */
  rest: { readonly rule: unknown; readonly source: unknown; readonly sink: unknown; readonly look: unknown } | null;
}

/** A memory with nothing in it. */
export const cycleMemory = (ledger: LedgerStore): CycleMemory => ({
  ledger,
  creating: new Map(),
  destroying: new Map(),
  underWay: new Map(),
  errors: new Map(),
  failedWith: new Map(),
  backoff: new Map(),
  confirming: null,
  settledRevision: 0,
  exclusive: serial(),
  rest: null,
});

/** Forgets accepted acts that the sink now shows, or that it should have shown by now. */
export const forgetSeen = (memory: CycleMemory, observed: readonly ObservedEntry[], nowMs: number): void => {
  if (memory.creating.size === 0 && memory.destroying.size === 0) return;
  const ids = new Set(observed.map((entry) => entry.id));
  for (const [key, accepted] of memory.creating) {
    if (ids.has(accepted.id) || accepted.untilMs <= nowMs) memory.creating.delete(key);
  }
  for (const [id, untilMs] of memory.destroying) {
    if (!ids.has(id) || untilMs <= nowMs) memory.destroying.delete(id);
  }
};

/** Forgets failures of acts that are no longer planned. */
export const forgetUnplanned = (memory: CycleMemory, planned: ReadonlySet<string>): void => {
  memory.backoff = retainKeys(memory.backoff, planned);
  for (const name of memory.errors.keys()) if (!planned.has(name)) memory.errors.delete(name);
  for (const name of memory.failedWith.keys()) if (!planned.has(name)) memory.failedWith.delete(name);
};

/** When the first accepted act should have shown, in ms; undefined when none is waited for. */
export const earliestExpected = (memory: CycleMemory): number | undefined => {
  let earliest: number | undefined;
  const consider = (ms: number): void => {
    if (earliest === undefined || ms < earliest) earliest = ms;
  };
  for (const accepted of memory.creating.values()) consider(accepted.untilMs);
  for (const untilMs of memory.destroying.values()) consider(untilMs);
  return earliest;
};
