import { AppError } from '@infrakit/core';

/**
 * The token of a leader (Law 12): a term counts within its scope only, for each election counts its own. The scope names
 * the election: the stack and the plugin that leads.
 */
export interface Fencing {
  readonly scope: string;
  readonly term: number;
}

/** The highest term that was seen of each scope. */
export interface FencingTerms {
  /** Lets a call through, and tells whether its term is new; an older one than was seen in its scope is `TERM_STALE`. */
  readonly admit: (fencing: Fencing | undefined) => boolean;
  /** What was seen, to be kept over a restart. */
  readonly all: () => readonly Fencing[];
}

/** Terms as they were seen before. */
export const fencingTerms = (seen: Iterable<Fencing> = []): FencingTerms => {
  const highest = new Map<string, number>();
  for (const { scope, term } of seen) highest.set(scope, Math.max(term, highest.get(scope) ?? term));
  return {
    admit: (fencing) => {
      if (fencing === undefined) return false;
      const { scope, term } = fencing;
      const known = highest.get(scope);
      if (known !== undefined && term < known) {
        throw new AppError('TERM_STALE', `term ${term} of ${scope} is over, ${known} has begun`, {
          facts: { scope, term, highest: known },
        });
      }
      highest.set(scope, term);
      return term !== known;
    },
    all: () => [...highest].map(([scope, term]) => ({ scope, term })),
  };
};
