import type { Member, Topics } from '@infrakit/core';
import type { After, Log, MembersPublisher } from '@infrakit/spi';
import type { Connection } from '../connection/connection.ts';
import { retainedSubtree } from './retained-subtree.ts';

export interface MembersPublisherOptions {
  readonly connection: Connection;
  readonly topics: Topics;
  readonly plugin: string;
  /** Whether this incarnation leads; a standby publishes nothing, and what it would when it comes to lead. */
  readonly isWriting: () => boolean;
  readonly after: After;
  readonly log: Log;
}

/** The port, with what the process needs of it. */
export interface RetainedMembers extends MembersPublisher {
  /** This incarnation begins or ceases to lead. */
  readonly review: () => void;
  /** Publishes what waits. Errors: `BUS_UNAVAILABLE` when the broker does not take it. */
  readonly drain: (timeoutMs: number) => Promise<void>;
  readonly close: () => void;
}

const coalesceMs = 250;
/** Until the members of groups that an earlier incarnation knew, and this one does not, are cleared. */
const leftoverMs = 60_000;

// Field by field, so that nothing else of a member, such as its properties, gets out (DESIGN §3).
const payloadOf = ({ ID, LogicalID, Tags, Health, Address }: Member): string =>
  JSON.stringify({ ID, LogicalID, Tags, Health, Address } satisfies Record<keyof Member, unknown>);

/** Keeps the retained topics of members: those of a group that was published once are exactly its members. */
export const membersPublisher = (options: MembersPublisherOptions): RetainedMembers => {
  const { topics, plugin, after } = options;
  /** What is published of each group, by topic. */
  const groups = new Map<string, ReadonlyMap<string, Member>>();
  const changed = new Map<string, readonly Member[]>();
  let mayClearAll = false;
  let stopTimer: (() => void) | undefined;

  const mayClear = (topic: string): boolean => {
    const parsed = topics.parse(topic);
    return mayClearAll || (parsed?.kind === 'member' && groups.has(parsed.group));
  };
  const subtree = retainedSubtree({ ...options, filters: [topics.filters.members(plugin)], mayClear });
  const stopGrace = after(leftoverMs, () => {
    mayClearAll = true;
    subtree.review();
  });

  const write = (group: string, members: readonly Member[]): boolean => {
    const before = groups.get(group);
    const now = new Map(members.map((member) => [topics.member(plugin, group, member.ID), member]));
    groups.set(group, now);
    for (const topic of before?.keys() ?? []) if (!now.has(topic)) subtree.clear(topic);
    // The same object says the same: an idle group of thousands costs no JSON.
    for (const [topic, member] of now) if (before?.get(topic) !== member) subtree.set(topic, payloadOf(member));
    return before === undefined;
  };

  const flush = (): void => {
    stopTimer = undefined;
    const firsts = [...changed].filter(([group, members]) => write(group, members));
    changed.clear();
    if (firsts.length > 0) subtree.review();
  };

  const publish = (group: string, members: readonly Member[]): void => {
    changed.set(group, members);
    stopTimer ??= after(coalesceMs, flush);
  };

  return {
    publish,
    clear: (group) => publish(group, []),
    review: subtree.review,
    drain: (timeoutMs) => {
      stopTimer?.();
      flush();
      return subtree.settled(timeoutMs);
    },
    close: () => {
      stopTimer?.();
      stopGrace();
      subtree.close();
    },
  };
};
