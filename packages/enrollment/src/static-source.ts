import { NEVER } from 'rxjs';
import type { EnrollmentSource } from './source.ts';
import type { SourceItem } from './source-item.ts';

/** A list as it is written in a spec: always known, without a target (EI §1.4). */
export const staticSource = (items: readonly SourceItem[]): EnrollmentSource => {
  const source = { kind: 'known', items } as const;
  return {
    read: async () => source,
    triggers: NEVER,
    settled: async () => {},
    leave: async () => {},
  };
};
