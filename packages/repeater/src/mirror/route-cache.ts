import type { Route, RouteMap } from './route.ts';

/** A route with its topic as it stands in a frame, its length in front. */
export interface Target {
  readonly route: Route;
  readonly bytes: Buffer;
}

/** Routes by the bytes of a topic, so that the number of rules costs nothing. */
export interface RouteCache {
  /** The target of a topic, given as its bytes in latin1; null where no rule wants it. */
  readonly find: (key: string) => Target | null;
  /** The rules are others from now on. */
  readonly reroute: (map: RouteMap) => void;
}

/** Topics whose route is remembered, and their bytes in all; beyond that it begins anew. */
const [maxTopics, maxTopicBytes] = [65_536, 16 * 1024 * 1024];
const maxTopicLength = 65_535;

/** A cache that has seen no topic yet. */
export const routeCache = (first: RouteMap): RouteCache => {
  let map = first;
  let known = new Map<string, Target | null>();
  let knownBytes = 0;
  const forget = (): void => {
    known = new Map();
    knownBytes = 0;
  };

  const look = (key: string): Target | null => {
    const route = map(Buffer.from(key, 'latin1').toString('utf8'));
    const text = route === null ? null : Buffer.from(route.topic, 'utf8');
    let target: Target | null = null;
    if (route !== null && text !== null && text.length <= maxTopicLength) {
      target = { route, bytes: Buffer.concat([Buffer.from([text.length >> 8, text.length & 0xff]), text]) };
    }
    knownBytes += key.length + (text?.length ?? 0);
    if (known.size >= maxTopics || knownBytes > maxTopicBytes) forget();
    known.set(key, target);
    return target;
  };

  return {
    find: (key) => {
      const target = known.get(key);
      return target === undefined ? look(key) : target;
    },
    reroute: (next) => {
      map = next;
      forget();
    },
  };
};
