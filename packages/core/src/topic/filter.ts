import { AppError } from '../errors.ts';
import { topicTextFault } from './topic.ts';

const wildcardFault = (filter: string): string | undefined => {
  const levels = filter.split('/');
  if (levels.some((level) => level.length > 1 && level.includes('+'))) return '+ must fill its level [MQTT-4.7.1-3]';
  const hash = levels.findIndex((level) => level.includes('#'));
  return hash < 0 || (hash === levels.length - 1 && levels[hash] === '#')
    ? undefined
    : '# must fill the last level [MQTT-4.7.1-2]';
};

/** Refuses what MQTT forbids as a topic filter; returns it otherwise. Errors: `FILTER_INVALID`. */
export const checkFilter = (filter: string): string => {
  const fault = topicTextFault(filter) ?? wildcardFault(filter);
  if (fault !== undefined) {
    throw new AppError('FILTER_INVALID', `not a topic filter: ${fault}`, { facts: { filter: filter.slice(0, 200) } });
  }
  return filter;
};

const isWildcard = (level: string | undefined): boolean => level === '+' || level === '#';

// A filter that begins with a wildcard never matches a first level that begins with $ [MQTT-4.7.2-1].
const isHidden = (filterLevel: string | undefined, level: string | undefined): boolean =>
  isWildcard(filterLevel) && level?.startsWith('$') === true;

/**
 * Whether a filter matches a topic: `+` one level, also an empty one [MQTT-4.7.1-3]; `#` the parent and everything below
 * [MQTT-4.7.1-2]; levels compared character by character [MQTT-4.7.3-4]; `$` topics only when named [MQTT-4.7.2-1].
 */
export const matchesFilter = (filter: string, topic: string): boolean => {
  const filterLevels = filter.split('/');
  const levels = topic.split('/');
  if (isHidden(filterLevels[0], levels[0])) return false;
  for (const [index, wanted] of filterLevels.entries()) {
    if (wanted === '#') return true;
    const level = levels[index];
    if (level === undefined || (wanted !== '+' && wanted !== level)) return false;
  }
  return filterLevels.length === levels.length;
};

// No topic is empty [MQTT-4.7.3-1], so below nothing, and below one empty level, # needs one level at least.
const stated = (filter: string): string => (filter === '#' ? '+/#' : filter === '/#' ? '/+/#' : filter);

/** Whether some topic is matched by both filters. */
export const filtersOverlap = (left: string, right: string): boolean => {
  const [a, b] = [stated(left).split('/'), stated(right).split('/')];
  if (isHidden(a[0], b[0]) || isHidden(b[0], a[0])) return false;
  for (let index = 0; ; index += 1) {
    const [x, y] = [a[index], b[index]];
    if (x === '#' || y === '#' || (x === undefined && y === undefined)) return true;
    if (x === undefined || y === undefined || (x !== '+' && y !== '+' && x !== y)) return false;
  }
};

/** Whether every topic that `narrow` matches is matched by `wide` too. */
export const filterCovers = (wide: string, narrow: string): boolean => {
  const [a, b] = [wide.split('/'), stated(narrow).split('/')];
  if (isHidden(a[0], b[0])) return false;
  for (let index = 0; ; index += 1) {
    const [x, y] = [a[index], b[index]];
    if (x === '#' || (x === undefined && y === undefined)) return true;
    if (x === undefined || y === undefined || y === '#' || (x !== '+' && x !== y)) return false;
  }
};
