import { AppError } from '../errors.ts';
import { compareUtf8 } from '../value/canonical.ts';
import type { DesiredEntry, ObservedEntry } from './entry.ts';
import type { IndexedSink } from './plan-sink.ts';
import type { IndexedSource } from './plan-source.ts';

/** What an unknown source key forbids: `Quarantine` is Law 5, the others keep the meaning of EI §1.8. */
export const sourcePolicies = ['Quarantine', 'EnableDestroy', 'DisableDestroy'] as const;
export type SourcePolicy = (typeof sourcePolicies)[number];

/** What an unknown key of an owned entry forbids: `Quarantine` is Law 5, the others keep the meaning of EI §1.8. */
export const enrollmentPolicies = ['Quarantine', 'EnableProvision', 'DisableProvision'] as const;
export type EnrollmentPolicy = (typeof enrollmentPolicies)[number];

/** The policy itself. Errors: `ARGUMENT_INVALID` for one that is not known, which would otherwise pass for the built-in one. */
export const knownPolicy = <P extends string>(policy: P, known: readonly P[]): P => {
  if (known.includes(policy)) return policy;
  throw new AppError('ARGUMENT_INVALID', `unknown policy ${JSON.stringify(policy)}, known are ${known.join(', ')}`, {
    facts: { policy },
  });
};

/** Why an act on an entry may not happen now, or nothing where it may. */
export type Withhold<T> = (entry: T) => string | undefined;

const quote = (text: string): string => JSON.stringify(text);

const smallestId = (entries: readonly { readonly id: string }[]): string | undefined =>
  entries.reduce<string | undefined>(
    (least, { id }) => (least === undefined || compareUtf8(id, least) < 0 ? id : least),
    undefined,
  );

/**
 * Which unmatched entries of ours must stay. Quarantine: those made for a quarantined source entry and, while a source key is
 * unknown, those that name no source. `DisableDestroy`: all while a source key is unknown. `EnableDestroy`: none.
 */
export const withholdDestroy = (source: IndexedSource, policy: SourcePolicy): Withhold<ObservedEntry> => {
  const first = smallestId(source.unknown);
  const unknown = first === undefined ? undefined : `not destroyed while the key of source ${quote(first)} is unknown`;
  if (policy === 'EnableDestroy') return () => undefined;
  if (policy === 'DisableDestroy') return () => unknown;
  const bad = new Set([...source.unknown, ...source.losers.map(({ entry }) => entry)].map(({ id }) => id));
  return ({ sourceId }) => {
    if (sourceId === undefined) return unknown;
    return bad.has(sourceId)
      ? `not destroyed: it was made for source ${quote(sourceId)}, which is quarantined`
      : undefined;
  };
};

/**
 * Which missing entries must wait while the key of an entry of ours is unknown. Quarantine: the one it was made for, all where
 * it does not say. `DisableProvision`: all. `EnableProvision`: none.
 */
export const withholdCreate = (
  source: IndexedSource,
  sink: IndexedSink,
  policy: EnrollmentPolicy,
): Withhold<DesiredEntry> => {
  if (policy === 'EnableProvision' || sink.unreadable.length === 0) return () => undefined;
  const reason = (id: string) => `not created while the key of the existing ${quote(id)} is unknown`;
  const unreadable = sink.unreadable.map(({ entry }) => entry);
  const anybody = smallestId(
    policy === 'DisableProvision' ? unreadable : unreadable.filter(({ sourceId }) => sourceId === undefined),
  );
  if (anybody !== undefined) return () => reason(anybody);
  const winnerOf = new Map(source.losers.map(({ entry, row }) => [entry.id, source.wants[row]?.id]));
  const madeFor = new Map<string, string>();
  for (const { id, sourceId } of unreadable.sort((a, b) => compareUtf8(b.id, a.id))) {
    if (sourceId !== undefined) madeFor.set(sourceId, id).set(winnerOf.get(sourceId) ?? sourceId, id);
  }
  return ({ id }) => {
    const maker = madeFor.get(id);
    return maker === undefined ? undefined : reason(maker);
  };
};
