import type { Json } from '@infrakit/core';
import type { Log } from '@infrakit/spi';
import { openAppendLog } from './append-log.ts';

/** Where a table keeps its changes: a file, or nowhere. */
export interface FactLog {
  /** Calls `applied` when the fact is durable, then resolves. */
  readonly append: (fact: Json, applied: () => unknown) => Promise<void>;
  /** Rewrites the file to these facts once it has grown to several times their number. */
  readonly trim: (live: number, facts: () => readonly Json[]) => void;
  readonly close: () => Promise<void>;
}

/** A log that keeps nothing. */
const nowhere: FactLog = { append: async (_, applied) => void applied(), trim: () => {}, close: async () => {} };

/** Opens the facts at `path`, or none that last when it is null; gives what was there. */
export const openFactLog = async (
  path: string | null,
  log: Log,
): Promise<{ readonly facts: readonly Json[]; readonly factLog: FactLog }> => {
  if (path === null) return { facts: [], factLog: nowhere };
  const opened = await openAppendLog(path);
  if (opened.dropped > 0) log.warn({ path, dropped: opened.dropped }, 'records that could not be read were left out');
  let isTrimming = false;
  const factLog: FactLog = {
    append: opened.log.append,
    trim: (live, facts) => {
      if (isTrimming || opened.log.size().records <= 4 * live + 1_000) return;
      isTrimming = true;
      opened.log
        .rewrite(facts)
        .catch((error: unknown) => log.warn({ path, error: String(error) }, 'the log could not be rewritten'))
        .finally(() => {
          isTrimming = false;
        });
    },
    close: opened.log.close,
  };
  return { facts: opened.records, factLog };
};
