import { Spec } from '@infrakit/core';
import { z } from 'zod';

/** A committed spec as the manager keeps it. */
export const SpecRecord = z.strictObject({
  /** The plugin that keeps it: `group`, `nfs`. */
  target: z.string().min(1),
  /** Its name there, without any lookup, so that `x` and `mystack/x` are one record (GP-M5). */
  name: z.string().min(1),
  spec: Spec,
  /** Rises with every commit of the stack. */
  revision: z.number().int().min(1),
  /**
   * `pending` until the controller has it; a freed one stays freed over restarts (GP-M9). `destroyed` is what is left of a
   * group that another spec names.
   */
  phase: z.enum(['pending', 'committed', 'freed', 'destroying', 'destroyed']),
});
export type SpecRecord = z.infer<typeof SpecRecord>;

/** Where the records are in the store. */
export const specPrefix = 'spec/';

/** The key of a record; canonical. */
export const specKey = (target: string, name: string): string => `${specPrefix}${target}/${name}`;

const ranks: Readonly<Record<string, number>> = { group: 100, ingress: 200, enrollment: 300 };

/** The order in which specs are given back after a start: other kinds, groups, ingress, enrollment; by name (GP §4.7). */
export const inReplayOrder = (records: readonly SpecRecord[]): SpecRecord[] => {
  const rankOf = ({ spec }: SpecRecord): number => ranks[spec.kind.split('/')[0] ?? ''] ?? 0;
  return [...records].sort(
    (left, right) => rankOf(left) - rankOf(right) || (left.name < right.name ? -1 : left.name > right.name ? 1 : 0),
  );
};
