import { RuleRecord } from '@infrakit/runtime';
import type { CallContext, Journal } from '@infrakit/spi';

/** Whether all that was committed before this start has been committed again (Law 4). */
export interface StoredSpecs {
  readonly isBack: () => boolean;
  /** These rules are there. */
  readonly came: (names: readonly string[]) => void;
}

const prefix = 'rule/';

const isAwaited = (value: unknown): boolean => RuleRecord.safeParse(value).data?.phase !== 'destroying';

/**
 * Which rules this controller kept when it was last stopped, by its own records: until each of them has been committed again,
 * an old name label may be that of another rule (Law 4). A rule that was being destroyed is not waited for.
 */
export const storedSpecs = async (journal: Journal, ctx: CallContext): Promise<StoredSpecs> => {
  const { entries } = await journal.list({ prefix }, ctx);
  const awaited = new Set(entries.filter(({ value }) => isAwaited(value)).map(({ key }) => key.slice(prefix.length)));
  return {
    isBack: () => awaited.size === 0,
    came: (names) => {
      for (const name of names) awaited.delete(name);
    },
  };
};
