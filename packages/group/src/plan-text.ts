/** What a commit of a group is told by (GP §1.7). */
export interface GroupChange {
  /** The target in force; null for a group that is not there yet. */
  readonly before: number | null;
  readonly after: number;
  /** How many members have the new configuration, and how many another one or none. */
  readonly current: number;
  readonly outdated: number;
}

/** What a commit would do, letter for letter as people know it (GP §1.7). */
export const planText = ({ before, after, current, outdated }: GroupChange): string => {
  if (before === null) return `Managing ${after} instances`;
  const change = after - before;
  if (change === 0) return outdated === 0 ? 'Noop' : `Performing a rolling update on ${outdated} instances`;
  if (change < 0) {
    const roll = Math.min(outdated, Math.max(0, after - current));
    const shrink = `Terminating ${-change} instances to reduce the group size to ${after}`;
    return roll === 0 ? shrink : `${shrink}, then performing a rolling update on ${roll} instances`;
  }
  const grow = `dding ${change} instances to increase the group size to ${after}`;
  return outdated === 0 ? `A${grow}` : `Performing a rolling update on ${outdated} instances, then a${grow}`;
};
