import type { Member } from '@infrakit/core';

/** Port: the retained member topics of this plugin's groups, made whole again after a reconnect. */
export interface MembersPublisher {
  /** The whole membership; members that are no longer in it are cleared. */
  readonly publish: (group: string, members: readonly Member[]) => void;
  /** Clears every member of the group. */
  readonly clear: (group: string) => void;
}
