import { randomUUID } from 'node:crypto';
import type { Departure, Member, MembersAnswer, Membership, Spec } from '@infrakit/core';
import type { Group } from '../group.ts';
import { type ContractContext, ContractFailure, demand, demandEqual, eventually } from './contract-case.ts';
import type { ControllerSubject } from './controller-subject.ts';

/** A group controller, and what the suite needs to know of it. Groups that are there already do no harm. */
export interface GroupSubject extends Omit<ControllerSubject, 'controller'> {
  readonly group: Group;
  /** The spec of a group of that size; another number means another configuration of its members. */
  readonly sized: (name: string, size: number, n: number) => Spec;
  /** The spec of a group with one member for each logical id. */
  readonly quorum?: (name: string, logicalIds: readonly string[]) => Spec;
  /** Takes a member away as a dying machine would. */
  readonly vanish?: (name: string, id: string) => Promise<void>;
}

type Known = Extract<Membership, { readonly kind: 'known' }>;

/** A whole answer about a membership that is known. */
export interface KnownMembers {
  readonly membership: Known;
  readonly members: readonly Member[];
  readonly departures: readonly Departure[];
  /** The ids of the members, sorted. */
  readonly ids: readonly string[];
}

/** One case's group: a name of its own, and short forms of what cases look at. */
export interface GroupScene {
  readonly group: Group;
  readonly name: string;
  readonly commit: (spec: Spec, revision: number) => Promise<void>;
  readonly answer: (digest?: string) => Promise<MembersAnswer>;
  /** The membership in whole, which must be known. */
  readonly known: (sinceRevision?: number) => Promise<KnownMembers>;
  /** Waits until the group has that many members and wants no others. */
  readonly untilSize: (size: number) => Promise<KnownMembers>;
  /** Commits a group of that size at revision 1, registers a consumer, and waits until all members are there. */
  readonly grown: (size: number) => Promise<KnownMembers>;
  /** Waits until the departures with this cause are those of exactly these ids. */
  readonly untilDeparted: (cause: Departure['Cause'], ids: readonly string[]) => Promise<readonly Departure[]>;
  /** Checks that members and target are still what they were. */
  readonly demandSame: (before: KnownMembers, what: string) => Promise<void>;
  /** Checks what can be observed, at once or in a while. */
  readonly settle: (check: () => Promise<void>) => Promise<void>;
}

/** The consumer that {@link GroupScene.grown} registers. */
export const consumer = 'contract-consumer';

/** Runs `act` with a name of its own, and destroys the group of that name, also after a failure. */
export const withGroup = async (
  subject: GroupSubject,
  ctx: ContractContext,
  act: (scene: GroupScene) => Promise<void>,
): Promise<void> => {
  const { group, world } = subject;
  const name = `contract-${randomUUID().slice(0, 8)}`;
  const settle: GroupScene['settle'] = (check) => eventually(ctx, subject.isEventuallyConsistent, check);
  const answer: GroupScene['answer'] = (digest) =>
    group.members(digest === undefined ? { name } : { name, digest }, ctx);
  const known = async (sinceRevision = 0): Promise<KnownMembers> => {
    const found = await group.members({ name, sinceRevision }, ctx);
    if (found.kind === 'unchanged') {
      throw new ContractFailure('members must answer in whole to a caller that sends no digest');
    }
    const { membership, members, departures } = found;
    if (membership.kind !== 'known') {
      throw new ContractFailure(`the membership must be known; it is ${membership.kind}: ${membership.reason}`);
    }
    const ids = members.map(({ ID }) => ID).sort();
    demand(new Set(ids).size === ids.length, 'a member must be listed once');
    demandEqual(membership.count, ids.length, 'the count of a known membership');
    return { membership, members, departures, ids };
  };
  const untilSize = async (size: number): Promise<KnownMembers> => {
    await settle(async () => {
      const { ids, membership } = await known();
      demandEqual([ids.length, membership.target], [size, size], 'the number of members, and the target');
    });
    return known();
  };
  try {
    await act({
      group,
      name,
      commit: async (spec, revision) => {
        await group.commit({ spec, revision }, ctx);
      },
      answer,
      known,
      untilSize,
      grown: async (size) => {
        await group.commit({ spec: subject.sized(name, size, 1), revision: 1 }, ctx);
        await group.registerConsumer({ name, consumer }, ctx);
        return untilSize(size);
      },
      untilDeparted: async (cause, ids) => {
        let found: readonly Departure[] = [];
        await settle(async () => {
          found = (await known()).departures.filter(({ Cause }) => Cause === cause);
          demandEqual(found.map(({ ID }) => ID).sort(), [...ids].sort(), `who departed with the cause ${cause}`);
        });
        return found;
      },
      demandSame: async (before, what) => {
        await world?.cycle();
        const { ids, membership } = await known();
        const expected = [before.ids, before.membership.target];
        demandEqual([ids, membership.target], expected, `members and target after ${what}`);
      },
      settle,
    });
  } finally {
    await group.destroy({ name }, ctx).catch(() => undefined);
  }
};
