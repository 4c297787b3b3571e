import { AppError } from '../errors.ts';
import { parsePath } from '../name/path.ts';
import type { Path } from '../name/path-schema.ts';
import { decodeLevel, encodeLevel } from './topic-level.ts';

/** What a topic of ours says, by its family (DESIGN §3). Names are decoded; `object` is empty for the plugin itself. */
export type ParsedTopic =
  | { readonly kind: 'process'; readonly nonce: string }
  | { readonly kind: 'plugin'; readonly plugin: string; readonly incarnation: string }
  | { readonly kind: 'rpc'; readonly plugin: string; readonly object: string; readonly method: string }
  | { readonly kind: 'reply'; readonly clientId: string }
  | { readonly kind: 'event'; readonly plugin: string; readonly path: Path }
  | { readonly kind: 'state'; readonly plugin: string; readonly object: string }
  | { readonly kind: 'member'; readonly plugin: string; readonly group: string; readonly instanceId: string };

/** The prefix of all topics unless `INFRAKIT_TOPIC_PREFIX` says otherwise. */
export const defaultTopicPrefix = 'infrakit';

const maxBytes = 65_535;

const invalid = (topic: string, why: string): AppError =>
  new AppError('TOPIC_INVALID', `not a topic: ${why}`, { facts: { topic: topic.slice(0, 200) } });

/** Why a text can be neither topic name nor filter, or `undefined` if it can: [MQTT-4.7.3-1], [MQTT-4.7.3-2], [MQTT-4.7.3-3], [MQTT-1.5.3-1]. */
export const topicTextFault = (text: string): string | undefined => {
  if (text === '') return 'it is empty';
  if (text.includes('\0')) return 'it contains NUL';
  if (/\p{Surrogate}/u.test(text)) return 'it is not well-formed Unicode';
  if (text.length * 3 > maxBytes && new TextEncoder().encode(text).length > maxBytes) {
    return `it is longer than ${maxBytes} bytes`;
  }
  return undefined;
};

/**
 * Refuses what no broker may be sent as the topic of a publish: wildcards [MQTT-3.3.2-2], NUL, more than 65535 bytes. Empty
 * levels are legal, for they occur in other people's topics. Errors: `TOPIC_INVALID`.
 */
export const checkTopic = (topic: string): string => {
  const fault = topicTextFault(topic) ?? (/[+#]/.test(topic) ? 'it contains a wildcard' : undefined);
  if (fault !== undefined) throw invalid(topic, fault);
  return topic;
};

/** As {@link checkTopic}, and no level is empty, as in all topics of ours (DESIGN §3). Errors: `TOPIC_INVALID`. */
export const checkOwnTopic = (topic: string): string => {
  if (checkTopic(topic).split('/').includes('')) throw invalid(topic, 'it has an empty level');
  return topic;
};

// Old subscriptions know no difference between `/var/log` and `var/log` (GP §3.2), so their topics are the same.
const eventLevels = (path: Path): readonly string[] => {
  const segments = parsePath(path);
  const levels = segments[0] === '' ? segments.slice(1) : segments;
  if (levels.length === 1 && (levels[0] === '' || levels[0] === '.')) throw invalid(path, 'an event needs one');
  return levels;
};

const parseLevels = (levels: readonly string[]): ParsedTopic | undefined => {
  const [family, ...encoded] = levels;
  const [first, second, third, ...more] = encoded.map(decodeLevel);
  if (family === 'events' && first !== undefined && second !== undefined) {
    return { kind: 'event', plugin: first, path: encoded.slice(1).map(decodeLevel).join('/') };
  }
  if (first === undefined || more.length > 0) return undefined;
  if (third !== undefined && second !== undefined) {
    if (family === 'rpc') return { kind: 'rpc', plugin: first, object: second, method: third };
    if (family === 'members') return { kind: 'member', plugin: first, group: second, instanceId: third };
    return undefined;
  }
  if (second !== undefined) {
    if (family === 'plugins') return { kind: 'plugin', plugin: first, incarnation: second };
    if (family === 'state') return { kind: 'state', plugin: first, object: second };
    return undefined;
  }
  if (family === 'processes') return { kind: 'process', nonce: first };
  return family === 'reply' ? { kind: 'reply', clientId: first } : undefined;
};

/**
 * Builders and parser of every topic under a prefix (DESIGN §3). Names are encoded into one level each, an event's path, without
 * a leading slash, into one level per segment. Builders of filters take `undefined` for "any". Errors: `TOPIC_INVALID` for a prefix or a topic
 * that MQTT forbids, `NAME_INVALID` for names that UTF-8 cannot carry.
 */
export const topicsUnder = (prefix: string = defaultTopicPrefix) => {
  checkOwnTopic(prefix);
  if (prefix.startsWith('$')) throw invalid(prefix, 'topics that begin with $ belong to the broker [MQTT-4.7.2-1]');
  const own = (...names: readonly string[]): string => checkOwnTopic([prefix, ...names.map(encodeLevel)].join('/'));
  const any = (...names: readonly (string | undefined)[]): string =>
    [prefix, ...names.map((name) => (name === undefined ? '+' : encodeLevel(name)))].join('/');
  return {
    prefix,
    process: (nonce: string): string => own('processes', nonce),
    plugin: (plugin: string, incarnation: string): string => own('plugins', plugin, incarnation),
    rpc: (plugin: string, object: string, method: string): string => own('rpc', plugin, object, method),
    reply: (clientId: string): string => own('reply', clientId),
    event: (plugin: string, path: Path): string => own('events', plugin, ...eventLevels(path)),
    state: (plugin: string, object: string): string => own('state', plugin, object),
    member: (plugin: string, group: string, instanceId: string): string => own('members', plugin, group, instanceId),
    filters: {
      processes: any('processes', undefined),
      plugins: (plugin?: string): string => any('plugins', plugin, undefined),
      rpc: (plugin: string): string => any('rpc', plugin, undefined, undefined),
      events: (plugin?: string): string => `${any('events', plugin)}/#`,
      states: (plugin?: string): string => any('state', plugin, undefined),
      members: (plugin?: string, group?: string): string => any('members', plugin, group, undefined),
    },
    /** What a topic says; `undefined` if it is not one that these builders write. */
    parse: (topic: string): ParsedTopic | undefined => {
      if (!topic.startsWith(`${prefix}/`)) return undefined;
      try {
        return parseLevels(topic.slice(prefix.length + 1).split('/'));
      } catch (error) {
        if (error instanceof AppError && error.code === 'NAME_INVALID') return undefined;
        throw error;
      }
    },
  };
};

/** The topics of one prefix. */
export type Topics = ReturnType<typeof topicsUnder>;
