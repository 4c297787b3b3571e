import { compareUtf8 } from '@infrakit/core';
import type { EventSource } from '@infrakit/spi';
import { eventSuffixes } from './enrollment-events.ts';

const levelsOf = (topic: string): string[] => topic.split('/').filter((level) => level !== '' && level !== '.');

/** Which topics there are events on: those of each rule (EI §5.2, §5.5). */
export const enrollmentEventSource = (rules: () => readonly string[]): EventSource => ({
  list: async ({ topic }) => {
    const at = levelsOf(topic);
    const topics = rules().flatMap((rule) => eventSuffixes.map((suffix) => levelsOf(`${rule}/${suffix}`)));
    const below = topics.filter((levels) => at.every((level, index) => levels[index] === level));
    if (below.length === 0 && at.length > 0) return { nodes: null };
    const nodes = new Set(below.flatMap((levels) => levels[at.length] ?? []));
    return { nodes: [...nodes].sort(compareUtf8) };
  },
});
