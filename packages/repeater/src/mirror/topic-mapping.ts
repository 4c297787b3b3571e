import { AppError, checkTopic } from '@infrakit/core';
import { anyLevel, commonLevel, everyTopic, levelAt, meet, partsOf, type TopicPattern } from './topic-pattern.ts';

/**
 * Where the topics of a rule go (issue's words: the same, one topic, a prefix put on, a prefix exchanged, captures).
 * `topic` gives the new one; null for a topic that the mapping cannot place. `image` gives all new topics of a set of old
 * ones, `preimage` all old ones that become a topic of a set, both exactly.
 */
export interface TopicMapping {
  readonly topic: (topic: string) => string | null;
  readonly image: (pattern: TopicPattern) => TopicPattern | null;
  readonly preimage: (pattern: TopicPattern) => TopicPattern | null;
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

const same: TopicMapping = { topic: (topic) => topic, image: (pattern) => pattern, preimage: (pattern) => pattern };

const constant = (topic: string): TopicMapping => {
  const image: TopicPattern = { levels: topic.split('/'), hasTail: false };
  return {
    topic: () => topic,
    image: () => image,
    preimage: (pattern) => (meet(pattern, image) === null ? null : everyTopic),
  };
};

/** A pattern without the topic that has no level at all, for there is none. */
const notEmpty = (pattern: TopicPattern): TopicPattern | null => {
  if (pattern.levels.length > 0) return pattern;
  return pattern.hasTail ? { levels: [anyLevel], hasTail: true } : null;
};

/** What stands behind the levels `front` in topics of a pattern: at least one level. */
const behind = (front: readonly string[], pattern: TopicPattern): TopicPattern | null => {
  for (const [at, level] of front.entries()) {
    const own = levelAt(pattern, at);
    if (own === undefined || commonLevel(own, level) === undefined) return null;
  }
  return notEmpty({ levels: pattern.levels.slice(front.length), hasTail: pattern.hasTail });
};

const prefixed = (prefix: string): TopicMapping => {
  const front = prefix.split('/').slice(0, -1);
  return {
    topic: (topic) => prefix + topic,
    image: ({ levels, hasTail }) => ({ levels: [...front, ...levels], hasTail }),
    preimage: (pattern) => behind(front, pattern),
  };
};

/** Takes `local` off and puts `remote` on; a topic that does not go on behind `local` has no place. */
const exchanged = (local: string, remote: string): TopicMapping => {
  const off = local.split('/').slice(0, -1);
  const on = remote.split('/').slice(0, -1);
  return {
    topic: (topic) =>
      topic.length > local.length && topic.startsWith(local) ? remote + topic.slice(local.length) : null,
    image: (pattern) => {
      const rest = behind(off, pattern);
      return rest === null ? null : { levels: [...on, ...rest.levels], hasTail: rest.hasTail };
    },
    preimage: (pattern) => {
      const rest = behind(on, pattern);
      return rest === null ? null : { levels: [...off, ...rest.levels], hasTail: rest.hasTail };
    },
  };
};

/** The n-th `+` of the sink stands for what the n-th `+` of the filter stood for, its `#` for the rest. */
const captured = (source: string, sink: string): TopicMapping => {
  const from = partsOf(source);
  /** Places of the `+` of the filter, and where its `#` begins. */
  const singles = from.levels.flatMap((level, at) => (level === anyLevel ? [at] : []));
  const tailAt = from.hasTail ? from.levels.length : null;
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
      return notEmpty({ levels: [...fill(pattern.levels), ...rest], hasTail: hasTail && pattern.hasTail });
    },
    preimage: (set) => {
      const pattern = notEmpty(set);
      if (pattern === null) return null;
      if (
        !hasTail &&
        (pattern.levels.length > parts.length || (pattern.levels.length < parts.length && !pattern.hasTail))
      )
        return null;
      const levels = [...from.levels];
      let next = 0;
      for (const [at, part] of parts.entries()) {
        const own = levelAt(pattern, at);
        if (own === undefined) return null;
        if (part === anyLevel) {
          levels[singles[next] ?? 0] = own;
          next += 1;
        } else if (commonLevel(own, part) === undefined) return null;
      }
      if (!hasTail) return { levels, hasTail: from.hasTail };
      return { levels: [...levels, ...pattern.levels.slice(parts.length)], hasTail: pattern.hasTail };
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
