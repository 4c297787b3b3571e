import type { TopicMapping } from './topic-mapping.ts';
import { filterOf, meet, type TopicPattern } from './topic-pattern.ts';

/** A rule as the proof sees it: from which broker, what, to which broker, and under which topics. */
export interface Hop {
  /** How a person knows the rule. */
  readonly name: string;
  /** The same text for the same broker. */
  readonly from: string;
  readonly to: string;
  readonly filter: TopicPattern;
  readonly mapping: TopicMapping;
}

/** One step of a cycle, for people. */
export interface LoopStep {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly topics: string;
}

/**
 * A way by which some message passes one rule twice; null when no message can. Exact, since the topics that reach a rule along
 * a way are a pattern: it follows every way on which no rule stands twice, and each such way ends.
 */
export const findLoop = (hops: readonly Hop[]): readonly LoopStep[] | null => {
  const byBroker = new Map<string, Hop[]>();
  for (const hop of hops) byBroker.set(hop.from, [...(byBroker.get(hop.from) ?? []), hop]);
  const onWay = new Set<Hop>();
  const way: LoopStep[] = [];

  const follow = (hop: Hop, topics: TopicPattern): readonly LoopStep[] | null => {
    const { name, from, to } = hop;
    way.push({ name, from, to, topics: filterOf(topics) });
    if (onWay.has(hop)) return way.slice(way.findIndex((step) => step.name === name && step.from === from));
    onWay.add(hop);
    const image = hop.mapping.image(topics);
    if (image !== null) {
      for (const next of byBroker.get(to) ?? []) {
        const reached = meet(image, next.filter);
        const loop = reached === null ? null : follow(next, reached);
        if (loop !== null) return loop;
      }
    }
    onWay.delete(hop);
    way.pop();
    return null;
  };

  for (const hop of hops) {
    const loop = follow(hop, hop.filter);
    if (loop !== null) return loop;
  }
  return null;
};

/** The cycle in one line: `a: s/# (one → two), b: mirror/# (two → one), then a again`. */
export const loopText = (loop: readonly LoopStep[]): string => {
  const steps = loop.slice(0, -1).map(({ name, from, to, topics }) => `${name}: ${topics} (${from} → ${to})`);
  return `${steps.join(', ')}, then ${loop.at(-1)?.name} again`;
};
