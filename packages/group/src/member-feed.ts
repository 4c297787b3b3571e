import type { Cause, Member } from '@infrakit/core';
import type { Clock } from '@infrakit/runtime';
import type { Events, MembersPublisher } from '@infrakit/spi';

/** What may become of a member; the last level of its events. */
export const newsKinds = ['joined', 'changed', 'leaving', 'left'] as const;

/** One thing that became of a member. */
export interface MemberNews {
  readonly kind: (typeof newsKinds)[number];
  readonly member: Member;
  /** Why, where the group knows. */
  readonly cause?: Cause | undefined;
}

/** What a feed speaks through. */
export interface MemberFeedDeps {
  readonly events: Events;
  readonly members: MembersPublisher;
  readonly clock: Clock;
  /** Of this start of the plugin: a reader that sees another one looks again at everything. */
  readonly incarnation: string;
  /** The members as they are now; null while that is not known, and then the member topics stay as they are. */
  readonly list: () => readonly Member[] | null;
  /** Publishes the state of the group again. */
  readonly refresh: () => void;
}

/** What the bus hears of the members of one group (DESIGN §3). */
export interface MemberFeed {
  /** One event at once; the member and state topics follow in a moment, once for a burst. */
  readonly tell: (news: MemberNews) => void;
  /** The member and state topics follow in a moment, without an event. */
  readonly changed: () => void;
  /** Clears the member topics. */
  readonly clear: () => void;
  readonly stop: () => void;
}

/** From the first change of a burst to its member and state topics, in ms: they may be 500 ms behind (DESIGN §3). */
const delayMs = 100;

/** The feed of one group. */
export const memberFeed = (group: string, deps: MemberFeedDeps): MemberFeed => {
  const { events, members, clock, incarnation } = deps;
  let seq = 0;
  let cancel: (() => void) | undefined;

  const changed = (): void => {
    cancel ??= clock.after(delayMs, () => {
      cancel = undefined;
      const list = deps.list();
      if (list !== null) members.publish(group, list);
      deps.refresh();
    });
  };
  const stop = (): void => {
    cancel?.();
    cancel = undefined;
  };
  return {
    tell: ({ kind, member, cause }) => {
      seq += 1;
      events.publish({
        Topic: `${group}/member/${kind}`,
        Type: 'member',
        ID: member.ID,
        Message: '',
        Timestamp: new Date(clock.now()).toISOString(),
        Data: { incarnation, seq, member, ...(cause !== undefined && { cause }) },
      });
      changed();
    },
    changed,
    clear: () => {
      stop();
      members.clear(group);
    },
    stop,
  };
};
