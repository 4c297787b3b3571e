import type { EventSource } from '@infrakit/spi';

/** The Event interface over a set of topics: sorted children, an empty list for a leaf, null for what is not there. */
export const topicTree = (topics: () => readonly string[]): EventSource => ({
  list: async ({ topic }) => {
    const path = topic.split('/').filter((part) => part !== '' && part !== '.');
    const below = topics()
      .map((known) => known.split('/').filter((part) => part !== ''))
      .filter((known) => path.every((part, at) => known[at] === part));
    if (below.length === 0) return { nodes: null };
    const nodes = new Set(below.flatMap((known) => known[path.length] ?? []));
    return { nodes: [...nodes].sort() };
  },
});
