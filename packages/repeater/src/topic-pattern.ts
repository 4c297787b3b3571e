/**
 * A set of topics in the form of a filter: `levels`, each a name or `+`, and behind them, where `hasTail`, any number of
 * further levels, none included (`a/#` has `a` in it [MQTT-4.7.1-2]).
 */
export interface TopicPattern {
  readonly levels: readonly string[];
  readonly hasTail: boolean;
}

/** The levels of a filter as they are written, and whether it ends in `#`. */
export const partsOf = (filter: string): TopicPattern => {
  const levels = filter.split('/');
  const hasTail = levels.at(-1) === '#';
  return { levels: hasTail ? levels.slice(0, -1) : levels, hasTail };
};

/** A filter as a pattern. There is no topic without a level, so `#` says no more than `+/#`. */
export const patternOf = (filter: string): TopicPattern =>
  filter === '#' ? { levels: ['+'], hasTail: true } : partsOf(filter);

/** A pattern as the filter that says the same. */
export const filterOf = ({ levels, hasTail }: TopicPattern): string =>
  hasTail && levels.length === 1 && levels[0] === '+' ? '#' : [...levels, ...(hasTail ? ['#'] : [])].join('/');

const levelAt = ({ levels, hasTail }: TopicPattern, at: number): string | undefined =>
  at < levels.length ? levels[at] : hasTail ? '+' : undefined;

/** What one level of both is; undefined where they have nothing in common. A wildcard in front finds no `$` topics [MQTT-4.7.2-1]. */
const common = (left: string, right: string, isFirst: boolean): string | undefined => {
  if (left === right) return left;
  const [wild, other] = left === '+' ? [left, right] : [right, left];
  if (wild !== '+' || (isFirst && other.startsWith('$'))) return undefined;
  return other;
};

/** The topics that are in both; null when there is none. Exact: the meeting of two patterns is a pattern. */
export const meet = (left: TopicPattern, right: TopicPattern): TopicPattern | null => {
  const length = Math.max(left.levels.length, right.levels.length);
  const levels: string[] = [];
  for (let at = 0; at < length; at += 1) {
    const [one, other] = [levelAt(left, at), levelAt(right, at)];
    if (one === undefined || other === undefined) return null;
    const level = common(one, other, at === 0);
    if (level === undefined) return null;
    levels.push(level);
  }
  return { levels, hasTail: left.hasTail && right.hasTail };
};
