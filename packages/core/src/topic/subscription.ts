import { formatPath, parsePath } from '../name/path.ts';
import type { Path } from '../name/path-schema.ts';
import { checkFilter, matchesFilter } from './filter.ts';
import type { Topics } from './topic.ts';
import { encodeLevel } from './topic-level.ts';

/** A subscription to the events of one plugin, as MQTT sees it and as a predicate over event paths. */
export interface EventSubscription {
  readonly filter: string;
  readonly matches: (path: Path) => boolean;
}

const rooted = (text: string): string => {
  const path = formatPath(parsePath(text));
  if (path === '.') return '/';
  return path.startsWith('/') ? path : `/${path}`;
};

const isWildcard = (level: string): boolean => level === '+' || level === '#';

// The extra first level stands for the plugin: below it a `$` is an ordinary character.
const wildcardSubscription = (topics: Topics, plugin: string, text: string): EventSubscription => {
  const relative = checkFilter(text).replace(/^\//, '');
  const levels = relative.split('/').map((level) => (isWildcard(level) ? level : encodeLevel(level)));
  return {
    filter: [topics.filters.events(plugin).slice(0, -2), ...levels].join('/'),
    matches: (path) => matchesFilter(`plugin/${relative}`, `plugin${rooted(path)}`),
  };
};

/**
 * What a subscription text means to the events of a plugin; filter and predicate let the same events through.
 * Text with `+` or `#` is an MQTT filter below the plugin. Else the old forms (GP §3.2, EI §5.3): `.` or nothing is everything,
 * a trailing slash the subtree below the node but not the node itself, anything else exactly that topic.
 * Errors: `FILTER_INVALID`.
 */
export const eventSubscription = (topics: Topics, plugin: string, text: string): EventSubscription => {
  if (/[+#]/.test(text)) return wildcardSubscription(topics, plugin, text);
  const wanted = rooted(text);
  if (wanted === '/') return { filter: topics.filters.events(plugin), matches: () => true };
  if (!wanted.endsWith('/')) {
    return { filter: topics.event(plugin, wanted), matches: (path) => rooted(path) === wanted };
  }
  return {
    filter: `${topics.event(plugin, wanted.slice(0, -1))}/+/#`,
    matches: (path) => rooted(path).startsWith(wanted),
  };
};
