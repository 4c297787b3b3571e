import { AppError, checkTopic } from '@infrakit/core';
import { partsOf, type TopicPattern } from './topic-pattern.ts';

/**
 * Where the topics of a rule go (issue's words: the same, one topic, a prefix put on, a prefix exchanged, captures).
 * `topic` gives the new one; null for a topic that the mapping cannot place. `image` gives all new topics of a set of old
 * ones, exactly.
 */
export interface TopicMapping {
  readonly topic: (topic: string) => string | null;
  readonly image: (pattern: TopicPattern) => TopicPattern | null;
}

/** The topic words of a rule. */
export interface MappingWords {
  /** The filter, without its local prefix. */
  readonly source: string;
  /** Empty: the same. Ending in `/`: put in front. With wildcards: captures of the filter's. Else the one topic. */
  readonly sink: string;
  /** Taken off the source topic, and put on the sink topic, as mosquitto's bridge has it. */
  readonly localPrefix: string;
  readonly remotePrefix: string;
}

const invalid = (sentence: string): AppError => new AppError('TOPIC_INVALID', sentence);

const same: TopicMapping = { topic: (topic) => topic, image: (pattern) => pattern };

const constant = (topic: string): TopicMapping => ({
  topic: () => topic,
  image: () => ({ levels: topic.split('/'), hasTail: false }),
});

const prefixed = (prefix: string): TopicMapping => {
  const front = prefix.split('/').slice(0, -1);
  return {
    topic: (topic) => prefix + topic,
    image: ({ levels, hasTail }) => ({ levels: [...front, ...levels], hasTail }),
  };
};

/** Takes `local` off and puts `remote` on; a topic that does not go on behind `local` has no place. */
const exchanged = (local: string, remote: string): TopicMapping => {
  const off = local === '' ? 0 : local.split('/').length - 1;
  const on = remote === '' ? [] : remote.split('/').slice(0, -1);
  return {
    topic: (topic) =>
      topic.length > local.length && topic.startsWith(local) ? remote + topic.slice(local.length) : null,
    image: ({ levels, hasTail }) => {
      if (levels.length <= off && !hasTail) return null;
      // With a tail there is at least the one level more without which the topic would have no place.
      const rest = levels.length <= off ? ['+'] : levels.slice(off);
      return { levels: [...on, ...rest], hasTail };
    },
  };
};

interface Capture {
  /** Places of the `+` of the filter. */
  readonly singles: readonly number[];
  /** Where the `#` of the filter begins; null when it has none. */
  readonly tailAt: number | null;
}

const capturesOf = (source: string): Capture => {
  const { levels, hasTail } = partsOf(source);
  const singles = levels.flatMap((level, at) => (level === '+' ? [at] : []));
  return { singles, tailAt: hasTail ? levels.length : null };
};

/** The n-th `+` of the sink stands for what the n-th `+` of the filter stood for, its `#` for the rest. */
const captured = (source: string, sink: string): TopicMapping => {
  const { singles, tailAt } = capturesOf(source);
  const { levels: parts, hasTail } = partsOf(sink);
  if (parts.filter((part) => part === '+').length > singles.length) {
    throw invalid(`${sink} has more + than ${source}, which there is nothing to put in`);
  }
  if (hasTail && tailAt === null) throw invalid(`${sink} ends in #, ${source} does not`);
  const fill = (levels: readonly string[]): string[] => {
    let next = 0;
    return parts.map((part) => {
      if (part !== '+') return part;
      const at = singles[next] ?? 0;
      next += 1;
      return levels[at] ?? '+';
    });
  };
  return {
    topic: (topic) => {
      const levels = topic.split('/');
      const rest = hasTail && tailAt !== null ? levels.slice(tailAt) : [];
      return [...fill(levels), ...rest].join('/');
    },
    image: (pattern) => {
      const rest = hasTail && tailAt !== null ? pattern.levels.slice(tailAt) : [];
      return { levels: [...fill(pattern.levels), ...rest], hasTail: hasTail && pattern.hasTail };
    },
  };
};

/** The mapping that the words of a rule mean. `TOPIC_INVALID` says what cannot be (GP-R12). */
export const topicMapping = (words: MappingWords): TopicMapping => {
  const { source, sink, localPrefix, remotePrefix } = words;
  for (const prefix of [localPrefix, remotePrefix]) {
    if (prefix !== '' && !prefix.endsWith('/')) throw invalid(`a prefix ends in /, ${JSON.stringify(prefix)} does not`);
  }
  if (localPrefix !== '' || remotePrefix !== '') {
    if (sink !== '') throw invalid('a rule has either a sinktopic or prefixes, not both');
    return exchanged(localPrefix, remotePrefix);
  }
  if (sink === '') return same;
  const { levels, hasTail } = partsOf(sink);
  if (hasTail || levels.includes('+')) return captured(source, sink);
  checkTopic(sink.endsWith('/') ? `${sink}x` : sink);
  return sink.endsWith('/') ? prefixed(sink) : constant(sink);
};
