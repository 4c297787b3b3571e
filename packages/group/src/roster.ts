import {
  type Cause,
  compareUtf8,
  type Health,
  type InstanceDescription,
  type Member,
  reservedTags,
  type Tags,
} from '@infrakit/core';
import type { MemberNews } from './member-feed.ts';

/** What a look is compared with. */
export interface Sighting {
  readonly nowMs: number;
  /** Why members leave that are about to, by id. */
  readonly leaving: ReadonlyMap<string, Cause>;
  /** Hears of each difference, in no order. */
  readonly tell: (news: MemberNews) => void;
}

/** Who is in a group: the last good look at the sink, and what was done since (DESIGN §3). */
export interface Roster {
  readonly size: () => number;
  readonly has: (id: string) => boolean;
  readonly member: (id: string) => Member | undefined;
  readonly description: (id: string) => InstanceDescription | undefined;
  readonly descriptions: () => IterableIterator<InstanceDescription>;
  /** Members that were made and that the sink does not show yet. */
  readonly unseen: () => readonly InstanceDescription[];
  /** Sorted by id. */
  readonly list: () => readonly Member[];
  /** Those whose health is not known to be good. */
  readonly doubtful: () => readonly InstanceDescription[];
  /** Whether this look can differ from what is known. */
  readonly isNews: (instances: readonly InstanceDescription[]) => boolean;
  /** Takes in a look; without a word of those who are in when it is the first one. */
  readonly observe: (instances: readonly InstanceDescription[], sighting: Sighting) => void;
  /** A member that was made just now; it may take the sink until `untilMs` to show it. */
  readonly join: (description: InstanceDescription, health: Health, untilMs: number) => void;
  /** A member that was destroyed just now; the sink may show it until `untilMs`. False when it was not in. */
  readonly leave: (id: string, untilMs: number) => boolean;
  /** Whether a member was destroyed and may still be shown. */
  readonly hasLeft: (id: string) => boolean;
  /** Whether some wait for the sink is over: the next look counts as it is. */
  readonly isOverdue: (nowMs: number) => boolean;
  /** Sets what differs, and tells it, but for members of the first look, whom nobody was told of either. */
  readonly setHealth: (
    health: ReadonlyMap<string, Health>,
    tell: (news: MemberNews) => void,
  ) => { readonly isChanged: boolean; readonly isQuietly: boolean };
}

interface Entry {
  readonly description: InstanceDescription;
  readonly member: Member;
  /** Made by us, and not yet shown: until when that is no wonder. */
  readonly untilMs?: number;
  /** Of the first look, and its health was not heard of yet. */
  readonly isUnasked?: boolean;
}

const isSameTags = (left: Tags | null, right: Tags | null): boolean => {
  if (left === right) return true;
  if (left === null || right === null) return false;
  const names = Object.keys(left);
  return names.length === Object.keys(right).length && names.every((name) => left[name] === right[name]);
};

const isSameMember = (left: Member, right: Member): boolean =>
  left.LogicalID === right.LogicalID &&
  left.Health === right.Health &&
  left.Address === right.Address &&
  isSameTags(left.Tags, right.Tags);

/** The logical id of an instance, which may only be there as a tag (GP §1.5). */
export const logicalIdOf = ({ LogicalID, Tags: tags }: InstanceDescription): string | null =>
  LogicalID ?? tags?.[reservedTags.logicalId] ?? null;

const memberOf = (description: InstanceDescription, health: Health): Member =>
  Object.freeze({
    ID: description.ID,
    LogicalID: logicalIdOf(description),
    Tags: description.Tags,
    Health: health,
    ...(description.Address !== undefined && { Address: description.Address }),
  });

/** A roster that knows nobody yet. */
export const roster = (): Roster => {
  const entries = new Map<string, Entry>();
  const left = new Map<string, number>();
  const pending = new Map<string, number>();
  const doubtful = new Set<string>();
  let last: readonly InstanceDescription[] | undefined;
  let sorted: readonly Member[] | undefined;

  const put = (entry: Entry): void => {
    const { ID, Health } = entry.member;
    entries.set(ID, entry);
    if (entry.untilMs === undefined) pending.delete(ID);
    else pending.set(ID, entry.untilMs);
    if (Health === 'healthy') doubtful.delete(ID);
    else doubtful.add(ID);
    sorted = undefined;
  };
  const drop = (id: string): void => {
    entries.delete(id);
    pending.delete(id);
    doubtful.delete(id);
    sorted = undefined;
  };

  const see = (description: InstanceDescription, isFirst: boolean, { tell }: Sighting): void => {
    const known = entries.get(description.ID);
    if (known?.description === description) return;
    const member = memberOf(description, known?.member.Health ?? 'unknown');
    if (known === undefined) {
      put({ description, member, isUnasked: isFirst });
      if (!isFirst) tell({ kind: 'joined', member });
    } else if (isSameMember(known.member, member)) {
      put({ description, member: known.member });
    } else {
      put({ description, member });
      tell({ kind: 'changed', member });
    }
  };

  const isNews: Roster['isNews'] = (instances) => instances !== last || pending.size + left.size > 0;

  return {
    size: () => entries.size,
    has: (id) => entries.has(id),
    member: (id) => entries.get(id)?.member,
    description: (id) => entries.get(id)?.description,
    descriptions: function* () {
      for (const { description } of entries.values()) yield description;
    },
    unseen: () => [...pending.keys()].flatMap((id) => entries.get(id)?.description ?? []),
    list: () => {
      sorted ??= Object.freeze(
        [...entries.values()].map(({ member }) => member).sort((a, b) => compareUtf8(a.ID, b.ID)),
      );
      return sorted;
    },
    doubtful: () => [...doubtful].flatMap((id) => entries.get(id)?.description ?? []),
    isNews,
    observe: (instances, sighting) => {
      if (!isNews(instances)) return;
      const { nowMs, leaving, tell } = sighting;
      const isFirst = last === undefined;
      last = instances;
      const shown = new Set<string>();
      for (const description of instances) {
        shown.add(description.ID);
        if ((left.get(description.ID) ?? Number.NEGATIVE_INFINITY) > nowMs) continue;
        left.delete(description.ID);
        see(description, isFirst, sighting);
      }
      for (const id of left.keys()) if (!shown.has(id)) left.delete(id);
      for (const [id, { member, untilMs }] of entries) {
        if (shown.has(id) || (untilMs ?? Number.NEGATIVE_INFINITY) > nowMs) continue;
        drop(id);
        tell({ kind: 'left', member, cause: leaving.get(id) ?? 'vanished' });
      }
    },
    join: (description, health, untilMs) => {
      const known = entries.get(description.ID);
      left.delete(description.ID);
      if (known === undefined) put({ description, member: memberOf(description, health), untilMs });
    },
    leave: (id, untilMs) => {
      left.set(id, untilMs);
      const isIn = entries.has(id);
      drop(id);
      return isIn;
    },
    hasLeft: (id) => left.has(id),
    isOverdue: (nowMs) =>
      [...pending.values()].some((untilMs) => untilMs <= nowMs) || [...left.values()].some((ms) => ms <= nowMs),
    setHealth: (health, tell) => {
      let [isChanged, isQuietly] = [false, false];
      for (const [id, value] of health) {
        const known = entries.get(id);
        if (known === undefined || known.member.Health === value) continue;
        const member = Object.freeze({ ...known.member, Health: value });
        put({ ...known, member, isUnasked: false });
        if (known.isUnasked === true) isQuietly = true;
        else {
          isChanged = true;
          tell({ kind: 'changed', member });
        }
      }
      return { isChanged, isQuietly };
    },
  };
};
