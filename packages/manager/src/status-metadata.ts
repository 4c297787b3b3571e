import { treeMetadata } from '@infrakit/runtime';
import type { MetadataSource } from '@infrakit/spi';
import type { Manager } from './manager.ts';

/** What a stack tells of itself: `configs/<target>/<name>` with the revision and phase of each stored spec (GP-M6). */
export const statusMetadata = (manager: Pick<Manager, 'records'>): MetadataSource =>
  treeMetadata(() => {
    const configs: Record<string, Record<string, unknown>> = {};
    for (const { target, name, revision, phase, spec } of manager.records()) {
      configs[target] = { ...configs[target], [name]: { kind: spec.kind, revision, phase } };
    }
    return { configs };
  });
