import { getByPath, listChildren, parsePath } from '@infrakit/core';
import type { MetadataSource } from '@infrakit/spi';

/** The metadata `now/nano` and `now/sec`, evaluated on each read (GP §3.4); nanoseconds are whole microseconds here. */
export const nowMetadata = (nowMs: () => number): MetadataSource => {
  const tree = () => ({ now: { nano: Math.floor(nowMs() * 1_000) * 1_000, sec: Math.floor(nowMs() / 1_000) } });
  const segments = (path: string): readonly string[] => parsePath(path).filter((part) => part !== '.' && part !== '');
  return {
    keys: async ({ path }) => ({ nodes: listChildren(tree(), segments(path)) ?? null }),
    get: async ({ path }) => {
      const value = getByPath(tree(), segments(path));
      return value === undefined ? { found: false, value: null } : { found: true, value };
    },
  };
};
