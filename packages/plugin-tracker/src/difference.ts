import { compareUtf8, type InstanceDescription } from '@infrakit/core';

/** Who came and who went between two looks, each sorted by id; those that went as they were last seen. */
export interface Difference {
  readonly lost: readonly InstanceDescription[];
  readonly found: readonly InstanceDescription[];
}

const byId = (left: InstanceDescription, right: InstanceDescription): number => compareUtf8(left.ID, right.ID);

/** The difference of two looks by id (GP §3.4). */
export const difference = (
  before: ReadonlyMap<string, InstanceDescription>,
  now: ReadonlyMap<string, InstanceDescription>,
): Difference => ({
  lost: [...before.values()].filter(({ ID }) => !now.has(ID)).sort(byId),
  found: [...now.values()].filter(({ ID }) => !before.has(ID)).sort(byId),
});
