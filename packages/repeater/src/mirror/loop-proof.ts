import { AppError } from '@infrakit/core';
import type { TopicMapping } from './topic-mapping.ts';
import { everyTopic, filterOf, isCoveredBy, meet, type TopicPattern } from './topic-pattern.ts';

/** A rule as the proof sees it: from which broker, what, to which broker, and under which topics. */
export interface Hop {
  /** How a person knows the rule. */
  readonly name: string;
  /** The same text for the same broker. */
  readonly from: string;
  readonly to: string;
  /** The topics that it has a place for; null for none. */
  readonly taken: TopicPattern | null;
  /** What of them is left out. */
  readonly excluded: readonly TopicPattern[];
  readonly mapping: TopicMapping;
}

/** The topics of a filter that a mapping has a place for; null when there are none. */
export const takenBy = (filter: TopicPattern, mapping: TopicMapping): TopicPattern | null => {
  const placed = mapping.preimage(everyTopic);
  return placed === null ? null : meet(filter, placed);
};

/** One step of a cycle, for people. */
export interface LoopStep {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly topics: string;
}

/** The messages that have come a way, by the topics that they began with: those of `all` that are in none of `without`. */
interface Begun {
  readonly all: TopicPattern;
  readonly without: readonly TopicPattern[];
}

/** How messages came to a rule: under which topics at its source, from which they began with. */
interface Arrival {
  readonly topics: TopicPattern;
  readonly begun: Begun;
  /** The topics to begin with that have become those of a set by now. */
  readonly before: (topics: TopicPattern) => TopicPattern | null;
}

/** The messages of an arrival that the next rule takes; null when there are none. */
const arrivalAt = (
  { taken, excluded }: Hop,
  image: TopicPattern,
  { begun, before }: Omit<Arrival, 'topics'>,
): Arrival | null => {
  const topics = taken === null ? null : meet(image, taken);
  if (taken === null || topics === null) return null;
  const origin = before(taken);
  const all = origin === null ? null : meet(begun.all, origin);
  const without = [...begun.without, ...excluded.flatMap((left) => before(left) ?? [])];
  return all === null || isCoveredBy(all, without) ? null : { topics, begun: { all, without }, before };
};

/** The rules that feed some of these, directly or through others, and these themselves. */
const feeding = (hops: readonly Hop[], through: readonly Hop[]): ReadonlySet<Hop> => {
  const images = hops.map(({ taken, mapping }) => (taken === null ? null : mapping.image(taken)));
  const found = new Set(through);
  // What is added on the way is visited too.
  for (const { from, taken } of found) {
    if (taken === null) continue;
    for (const [at, hop] of hops.entries()) {
      const image = images[at];
      if (hop.to !== from || found.has(hop) || image === null || image === undefined) continue;
      if (meet(image, taken) !== null) found.add(hop);
    }
  }
  return found;
};

/** Steps that a proof may take: rules that are entangled so much that they take more are refused. */
const maxSteps = 100_000;

/**
 * A way by which some message passes one rule twice; null when no message can. Exact: the topics with which messages begin
 * that come along a way are a pattern without some others, and it is told whether there are any. It follows every way on which no rule
 * stands twice, and each such way ends. That an earlier rule of a spec takes a topic first is not counted. `SPEC_INVALID` when
 * there are too many ways to follow. `through`: only of these rules it is not known that they are in no loop.
 */
export const findLoop = (hops: readonly Hop[], through: readonly Hop[] = hops): readonly LoopStep[] | null => {
  const byBroker = new Map<string, Hop[]>();
  for (const hop of hops) {
    const there = byBroker.get(hop.from);
    if (there === undefined) byBroker.set(hop.from, [hop]);
    else there.push(hop);
  }
  const onWay = new Set<Hop>();
  const way: LoopStep[] = [];
  let steps = 0;

  const follow = (hop: Hop, { topics, begun, before }: Arrival): readonly LoopStep[] | null => {
    const { name, from, to, mapping } = hop;
    steps += 1;
    if (steps > maxSteps) {
      throw new AppError(
        'SPEC_INVALID',
        'whether a message would go round for ever cannot be told: too many rules feed each other',
      );
    }
    way.push({ name, from, to, topics: filterOf(topics) });
    if (onWay.has(hop)) return way.slice(way.findIndex((step) => step.name === name && step.from === from));
    onWay.add(hop);
    const image = mapping.image(topics);
    if (image !== null) {
      const further = {
        begun,
        before: (later: TopicPattern) => {
          const here = mapping.preimage(later);
          return here === null ? null : before(here);
        },
      };
      for (const next of byBroker.get(to) ?? []) {
        const arrival = arrivalAt(next, image, further);
        const loop = arrival === null ? null : follow(next, arrival);
        if (loop !== null) return loop;
      }
    }
    onWay.delete(hop);
    way.pop();
    return null;
  };

  for (const hop of through === hops ? hops : feeding(hops, through)) {
    const { taken } = hop;
    if (taken === null || isCoveredBy(taken, hop.excluded)) continue;
    const begun = { all: taken, without: hop.excluded };
    const loop = follow(hop, { topics: taken, begun, before: (same) => same });
    if (loop !== null) return loop;
  }
  return null;
};

/** The cycle in one line: `a: s/# (one → two), b: mirror/# (two → one), then a again`. */
export const loopText = (loop: readonly LoopStep[]): string => {
  const steps = loop.slice(0, -1).map(({ name, from, to, topics }) => `${name}: ${topics} (${from} → ${to})`);
  return `${steps.join(', ')}, then ${loop.at(-1)?.name} again`;
};
