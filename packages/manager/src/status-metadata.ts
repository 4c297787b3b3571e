import { getByPath, listChildren, parsePath } from '@infrakit/core';
import type { MetadataSource } from '@infrakit/spi';
import type { Manager } from './manager.ts';

/** What a stack tells of itself: `configs/<target>/<name>` with the revision and phase of each stored spec (GP-M6). */
export const statusMetadata = (manager: Pick<Manager, 'records'>): MetadataSource => {
  const tree = () => {
    const configs: Record<string, Record<string, unknown>> = {};
    for (const { target, name, revision, phase, spec } of manager.records()) {
      configs[target] = { ...configs[target], [name]: { kind: spec.kind, revision, phase } };
    }
    return { configs };
  };
  const segments = (path: string): readonly string[] => parsePath(path).filter((part) => part !== '.' && part !== '');
  return {
    keys: async ({ path }) => ({ nodes: listChildren(tree(), segments(path)) ?? null }),
    get: async ({ path }) => {
      const value = getByPath(tree(), segments(path));
      return value === undefined ? { found: false, value: null } : { found: true, value };
    },
  };
};
