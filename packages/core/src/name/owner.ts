import { AppError } from '../errors.ts';
import type { Ownership } from '../plan/entry.ts';
import { reservedTags, type Tags } from '../value/tags.ts';

/**
 * The label that says whose an entry is: `<stack id>/<controller>/<rule>` (Law 4). Only the rule may hold slashes, so that
 * two owners never share a label. Errors: `NAME_INVALID`.
 */
export const ownerLabel = (stackId: string, controller: string, rule: string): string => {
  const isPlain = (part: string): boolean => part !== '' && !part.includes('/');
  if (!isPlain(stackId) || !isPlain(controller) || rule === '') {
    throw new AppError('NAME_INVALID', 'an owner needs a stack id and a controller without slashes, and a rule', {
      facts: { stackId, controller, rule },
    });
  }
  return `${stackId}/${controller}/${rule}`;
};

/** What {@link ownershipOf} goes by. */
export interface OwnershipFacts {
  /** Our owner label, see {@link ownerLabel}. */
  readonly owner: string;
  /** The name of the rule, as in the old name label. */
  readonly rule: string;
  /** Whether the entry has a join key. */
  readonly keyKnown: boolean;
  /** Whether a request or an option hands this entry to us. */
  readonly adopted: boolean;
  readonly allowUntaggedDestroy: boolean;
  /** Until all stored specs are back, an old name label may be that of another rule. */
  readonly storedSpecsBack: boolean;
}

/**
 * Whose an entry is, by its tags alone (Law 4): the owner label decides; without one the old name label; without both it is
 * untagged where its key makes it count as enrolled. An untagged entry without a key is foreign, unless untagged entries may be
 * destroyed: then the plan decides by its policy (EI §1.8).
 */
export const ownershipOf = (tags: Tags | null, facts: OwnershipFacts): Ownership => {
  const read = (name: string): string | undefined =>
    tags !== null && Object.hasOwn(tags, name) ? tags[name] : undefined;
  const owner = read(reservedTags.enrollmentOwner);
  if (owner !== undefined) return owner === facts.owner ? { kind: 'ours' } : { kind: 'foreign', owner };
  const name = read(reservedTags.enrollmentName);
  if (name !== undefined) {
    return name === facts.rule ? { kind: 'named', judged: facts.storedSpecsBack } : { kind: 'foreign', owner: name };
  }
  if (!facts.keyKnown && !facts.allowUntaggedDestroy) return { kind: 'foreign' };
  return { kind: 'untagged', adopted: facts.adopted, destroyable: facts.allowUntaggedDestroy };
};

/**
 * The labels that make an entry ours, the old ones among them; a new object each time (EI-E2). Without a source id, as when an
 * entry is adopted that no source entry was matched with, its label is left out.
 */
export const ownerTags = (owner: string, rule: string, sourceId?: string): Tags => ({
  [reservedTags.enrollmentOwner]: owner,
  [reservedTags.enrollmentName]: rule,
  ...(sourceId !== undefined && { [reservedTags.enrollmentSourceId]: sourceId }),
});
