import { type Cause, type Departure, type MembersAnswer, type Membership, trimDepartures } from '@infrakit/core';
import type { MemberNews } from './member-feed.ts';
import type { Roster } from './roster.ts';

/** What of a membership is not in its roster. */
export interface MembershipView {
  readonly target: number;
  /** Why it is not known who is in; null when it is. */
  readonly unknown: string | null;
  readonly isDestroyed: boolean;
}

/** What a group tells of its membership: who is in, who left since when, and why (DESIGN §3). */
export interface MembershipLog {
  /** Rises with each change of the members, over restarts too. */
  readonly revision: () => number;
  /** Another one whenever the answer is another one. */
  readonly digest: (view: MembershipView) => string;
  readonly answer: (view: MembershipView, digest?: string, sinceRevision?: number) => MembersAnswer;
  /** Takes in a change of the roster. */
  readonly note: (news: MemberNews) => void;
  /** Takes in that members are not quite what they were. */
  readonly touch: () => void;
  /** Takes in that somebody left whom nobody saw leave. */
  readonly depart: (id: string, cause: Cause) => void;
  readonly departed: () => Departure[];
  /** Lets go of what all consumers have acknowledged; answers what is left. */
  readonly trim: (consumers: Readonly<Record<string, number>>) => Departure[];
}

/** The log of a start of the plugin: revisions go on above `ceiling`, digests are its own. */
export const membershipLog = (
  roster: Roster,
  start: { readonly ceiling: number; readonly departed: readonly Departure[]; readonly incarnation: string },
): MembershipLog => {
  let revision = start.ceiling + 1;
  let departed: Departure[] = [...start.departed];
  let hasConsumers = true;
  let told: { readonly digest: string; readonly since: number; readonly answer: MembersAnswer } | undefined;

  const depart = (ID: string, Cause: Cause): void => {
    revision += 1;
    told = undefined;
    if (hasConsumers) departed.push({ ID, Cause, Revision: revision });
  };

  const digest = ({ target, unknown, isDestroyed }: MembershipView): string =>
    unknown === null
      ? `${start.incarnation}-${revision}-${target}${isDestroyed ? '-destroyed' : ''}`
      : `${start.incarnation}-${revision}-unknown`;

  const membershipOf = (view: MembershipView): Membership => {
    if (view.unknown !== null) return { kind: 'unknown', reason: view.unknown };
    const phase = view.isDestroyed && roster.size() === 0 ? 'destroyed' : 'running';
    return { kind: 'known', count: roster.size(), target: view.target, revision, digest: digest(view), phase };
  };

  return {
    revision: () => revision,
    digest,
    answer: (view, seen, since = 0) => {
      const own = digest(view);
      if (view.unknown === null && seen === own) return { kind: 'unchanged', digest: own };
      if (view.unknown === null && told?.digest === own && told.since === since) return told.answer;
      const answer = {
        kind: 'members' as const,
        membership: membershipOf(view),
        members: view.unknown === null ? [...roster.list()] : [],
        departures: departed.filter(({ ID, Revision }) => Revision > since && !roster.has(ID)),
      };
      for (const part of [answer.members, answer.departures, answer.membership, answer]) Object.freeze(part);
      if (view.unknown === null) told = { digest: own, since, answer };
      return answer;
    },
    note: ({ kind, member, cause }) => {
      if (kind === 'left') depart(member.ID, cause ?? 'vanished');
      else if (kind !== 'leaving') revision += 1;
    },
    touch: () => {
      revision += 1;
    },
    depart,
    departed: () => departed,
    trim: (consumers) => {
      const acknowledged = new Map(Object.entries(consumers));
      hasConsumers = acknowledged.size > 0;
      const kept = trimDepartures(departed, acknowledged);
      if (kept !== departed) {
        departed = [...kept];
        told = undefined;
      }
      return [...departed];
    },
  };
};
