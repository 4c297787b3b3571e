import { formatTags } from '@infrakit/core';
import { noLogicalId } from './table.ts';

/** What the usual list shows of an instance or member. */
export interface InstanceRow {
  readonly ID: string;
  readonly LogicalID: string | null;
  readonly Tags: Readonly<Record<string, string>> | null;
}

/** The columns of the usual list (GP §5.3). */
export const instanceColumns = [{ heading: 'ID', width: 30 }, { heading: 'LOGICAL', width: 30 }, { heading: 'TAGS' }];

/** The cells of one line. */
export const instanceRow = ({ ID, LogicalID, Tags }: InstanceRow): string[] => [
  ID,
  LogicalID ?? noLogicalId,
  formatTags(Tags),
];
