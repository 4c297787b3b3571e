import { compareUtf8 } from '@infrakit/core';
import type { EventSource } from '@infrakit/spi';

const levelsOf = (topic: string): string[] => topic.split('/').filter((level) => level !== '' && level !== '.');

/**
 * The Event interface over a set of topics (EI §5.2): sorted children, an empty list for a leaf and for a root without any,
 * null for what is not there, wherever among its siblings it would stand (GP-E11, EI-V9).
 */
export const topicTree = (topics: () => readonly string[]): EventSource => ({
  list: async ({ topic }) => {
    const path = levelsOf(topic);
    const below = topics()
      .map(levelsOf)
      .filter((known) => path.every((level, at) => known[at] === level));
    if (below.length === 0 && path.length > 0) return { nodes: null };
    const nodes = new Set(below.flatMap((known) => known[path.length] ?? []));
    return { nodes: [...nodes].sort(compareUtf8) };
  },
});
