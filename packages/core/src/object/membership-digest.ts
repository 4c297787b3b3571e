import type { Explanation } from '../plan/entry.ts';
import { compareUtf8, digest } from '../value/canonical.ts';
import type { Cause, Departure, Member, Membership } from './membership.ts';

/** A digest of who is in and how: the same for any order of the members, another one for any other content. */
export const membersDigest = (members: readonly Member[]): string =>
  digest([...members].sort((left, right) => compareUtf8(left.ID, right.ID)));

/** Whether a group has all that it wants; what is not known as a whole is not. */
export const isWhole = (membership: Membership): boolean =>
  membership.kind === 'known' && membership.count >= membership.target;

/**
 * Who left between two readings, by id: with the cause that was journalled before the act, else `vanished` (DESIGN §3).
 */
export const departuresBetween = (
  before: Iterable<string>,
  after: ReadonlySet<string>,
  { causes, revision }: { readonly causes: ReadonlyMap<string, Cause>; readonly revision: number },
): Departure[] =>
  [...before]
    .filter((id) => !after.has(id))
    .sort(compareUtf8)
    .map((ID) => ({ ID, Cause: causes.get(ID) ?? 'vanished', Revision: revision }));

/**
 * Departures that some registered consumer has not acknowledged yet: those past the lowest acknowledged revision. Where nobody
 * is registered nobody waits for any. The same array when nothing is trimmed.
 */
export const trimDepartures = (
  departures: readonly Departure[],
  acknowledged: ReadonlyMap<string, number>,
): readonly Departure[] => {
  const lowest = Math.min(...acknowledged.values());
  const kept = departures.filter(({ Revision }) => Revision > lowest);
  return kept.length === departures.length ? departures : kept;
};

/**
 * Why members left, by id: the last departure of each counts, and one that just vanished explains nothing (Law 6).
 */
export const explainDepartures = (departures: readonly Departure[]): ReadonlyMap<string, Explanation> => {
  const last = new Map<string, Departure>();
  for (const departure of departures) {
    if ((last.get(departure.ID)?.Revision ?? -1) <= departure.Revision) last.set(departure.ID, departure);
  }
  const explained = new Map<string, Explanation>();
  for (const { ID, Cause, Revision } of last.values()) {
    if (Cause !== 'vanished') explained.set(ID, { by: 'departure', cause: Cause, revision: Revision });
  }
  return explained;
};
