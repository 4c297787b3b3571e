import { getByPath, listChildren, parsePath } from '@infrakit/core';
import type { MetadataSource } from '@infrakit/spi';

const segments = (path: string): readonly string[] => parsePath(path).filter((part) => part !== '.' && part !== '');

/** The Metadata interface over a tree that is made anew at each read (GP §2.5). */
export const treeMetadata = (tree: () => unknown): MetadataSource => ({
  keys: async ({ path }) => ({ nodes: listChildren(tree(), segments(path)) ?? null }),
  get: async ({ path }) => {
    const value = getByPath(tree(), segments(path));
    return value === undefined ? { found: false, value: null } : { found: true, value };
  },
});
