/**
 * A set of topics in the form of a filter: `levels`, each a name, {@link anyLevel} or {@link plainLevel}, and behind them, where
 * `hasTail`, any number of further levels, none included (`a/#` has `a` in it [MQTT-4.7.1-2]).
 */
export interface TopicPattern {
  readonly levels: readonly string[];
  readonly hasTail: boolean;
}

/** Any level at all. */
export const anyLevel = '+';
/** Any level but those that begin with `$`: what a wildcard in front of a filter means [MQTT-4.7.2-1]. No name has a `+` in it. */
const plainLevel = '+$';

/** All topics, those of `$` too. */
export const everyTopic: TopicPattern = { levels: [], hasTail: true };

/** The levels of a filter as they are written, and whether it ends in `#`. */
export const partsOf = (filter: string): TopicPattern => {
  const levels = filter.split('/');
  const hasTail = levels.at(-1) === '#';
  return { levels: hasTail ? levels.slice(0, -1) : levels, hasTail };
};

/** A filter as a pattern. There is no topic without a level, so `#` says no more than `+/#`. */
export const patternOf = (filter: string): TopicPattern => {
  const { levels, hasTail } = partsOf(filter);
  const [first = anyLevel, ...rest] = levels;
  return { levels: [first === anyLevel ? plainLevel : first, ...rest], hasTail };
};

/** A pattern as the filter that says the same, as far as filters can. */
export const filterOf = ({ levels, hasTail }: TopicPattern): string => {
  const written = levels.map((level) => (level === plainLevel ? anyLevel : level));
  if (hasTail && (written.length === 0 || (written.length === 1 && written[0] === anyLevel))) return '#';
  return [...written, ...(hasTail ? ['#'] : [])].join('/');
};

/** A level of a pattern; undefined where its topics have ended. */
export const levelAt = ({ levels, hasTail }: TopicPattern, at: number): string | undefined =>
  at < levels.length ? levels[at] : hasTail ? anyLevel : undefined;

/** Whether all that one level stands for is in another. */
const holds = (wide: string, narrow: string): boolean =>
  wide === anyLevel || wide === narrow || (wide === plainLevel && narrow !== anyLevel && !narrow.startsWith('$'));

/** What one level of both is; undefined where they have nothing in common. */
export const commonLevel = (left: string, right: string): string | undefined => {
  if (holds(left, right)) return right;
  return holds(right, left) ? left : undefined;
};

/** The topics that are in both; null when there is none. Exact: the meeting of two patterns is a pattern. */
export const meet = (left: TopicPattern, right: TopicPattern): TopicPattern | null => {
  const length = Math.max(left.levels.length, right.levels.length);
  const levels: string[] = [];
  for (let at = 0; at < length; at += 1) {
    const [one, other] = [levelAt(left, at), levelAt(right, at)];
    const level = one === undefined || other === undefined ? undefined : commonLevel(one, other);
    if (level === undefined) return null;
    levels.push(level);
  }
  return { levels, hasTail: left.hasTail && right.hasTail };
};

/** Whether a pattern has every topic of `length` levels that `narrow` has. */
const holdsAt = (wide: TopicPattern, narrow: TopicPattern, length: number): boolean => {
  if (wide.levels.length > length || (wide.levels.length < length && !wide.hasTail)) return false;
  return wide.levels.every((level, at) => holds(level, levelAt(narrow, at) ?? ''));
};

/**
 * Whether the patterns of a list have all topics of one between them. Exact: of the topics of one length a name that nobody
 * knows stands for every wildcard, and it is in a pattern only if all others are.
 */
export const isCoveredBy = (pattern: TopicPattern, others: readonly TopicPattern[]): boolean => {
  const least = pattern.levels.length;
  const most = pattern.hasTail ? Math.max(least, ...others.map(({ levels }) => levels.length)) + 1 : least;
  for (let length = least; length <= most; length += 1) {
    if (!others.some((other) => holdsAt(other, pattern, length))) return false;
  }
  return true;
};
