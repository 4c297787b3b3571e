import type { Mirror } from './mirror.ts';

/** What the oracle knows of a rule: its words, and the brokers it lies between. */
export interface TriedRule {
  readonly words: Pick<Mirror, 'sourcetopic' | 'sinktopic' | 'LocalPrefix' | 'RemotePrefix' | 'Exclude' | 'Direction'>;
  readonly source: string;
  readonly sink: string;
}

/** A topic and a filter, level by level [MQTT-4.7]. */
const isMatch = (filter: readonly string[], topic: readonly string[]): boolean => {
  const [level, ...rest] = filter;
  const [name, ...further] = topic;
  if (level === '#') return true;
  if (level === undefined || name === undefined) return level === name;
  return (level === '+' || level === name) && isMatch(rest, further);
};

/** By the standard's words; one without a wildcard in front finds `$` topics. */
const matches = (filter: string, topic: string): boolean => {
  const isHidden = /^[+#]/.test(filter) && topic.startsWith('$');
  const filterLevels = filter.split('/');
  const isParent = filterLevels.at(-1) === '#' && isMatch(filterLevels.slice(0, -1), topic.split('/'));
  return !isHidden && (isParent || isMatch(filterLevels, topic.split('/')));
};

/** What the wildcards of a filter stood for. */
const captures = (
  filter: string,
  topic: string,
): { readonly singles: readonly string[]; readonly rest: readonly string[] } => {
  const [levels, names] = [filter.split('/'), topic.split('/')];
  const isOpen = levels.at(-1) === '#';
  return {
    singles: names.filter((_, at) => levels[at] === '+'),
    rest: isOpen ? names.slice(levels.length - 1) : [],
  };
};

/** Where one direction of a rule puts a topic, as its page says it; null for nowhere. */
const placeOf = (
  { sourcetopic, sinktopic, Exclude }: TriedRule['words'],
  [local, remote]: readonly [local: string, remote: string],
  topic: string,
): string | null => {
  const filter = local + sourcetopic;
  if (!matches(filter, topic) || Exclude.some((exclude) => matches(exclude, topic))) return null;
  if (local !== '' || remote !== '') {
    return topic.startsWith(local) && topic.length > local.length ? remote + topic.slice(local.length) : null;
  }
  if (sinktopic === '' || sinktopic === '.') return topic;
  if (sinktopic.endsWith('/')) return sinktopic + topic;
  const { singles, rest } = captures(filter, topic);
  const left = [...singles];
  const levels = sinktopic.split('/').flatMap((level) => {
    if (level === '#') return rest;
    return level === '+' ? [left.shift() ?? ''] : [level];
  });
  return levels.join('/') || null;
};

/**
 * Whether some message on one of `topics`, published on any broker, passes a direction of a rule twice: found by sending each
 * of them, knowing nothing of the proof.
 */
export const goesRound = (rules: readonly TriedRule[], topics: readonly string[]): boolean => {
  const hops = rules.flatMap(({ words, source, sink }) => {
    const out = { from: source, to: sink, words, prefixes: [words.LocalPrefix, words.RemotePrefix] as const };
    const back = { from: sink, to: source, words, prefixes: [words.RemotePrefix, words.LocalPrefix] as const };
    return [...(words.Direction === 'in' ? [] : [out]), ...(words.Direction === 'out' ? [] : [back])];
  });
  const passesTwice = (broker: string, topic: string, passed: readonly object[]): boolean =>
    hops.some((hop) => {
      if (hop.from !== broker) return false;
      const place = placeOf(hop.words, hop.prefixes, topic);
      if (place === null) return false;
      return passed.includes(hop) || passesTwice(hop.to, place, [...passed, hop]);
    });
  return [...new Set(hops.map(({ from }) => from))].some((broker) =>
    topics.some((topic) => passesTwice(broker, topic, [])),
  );
};
