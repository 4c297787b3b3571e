import { type FilterIndex, filterCovers, filterIndex, filtersOverlap } from '@infrakit/core';
import type { Flow } from '../wire/flow.ts';
import type { Wanted } from '../wire/handshake.ts';
import type { Route, RouteCounter, RouteMap } from './route.ts';

/** A flow of a mirror in the lane where it is. */
export interface Placed {
  readonly mirrorId: string;
  readonly flow: Flow;
  /** Flows of one set share their topics out: the first that wants a topic gets it (GP-R10). Others know nothing of each other. */
  readonly set: string;
  /** Its place in the set; of two in one place the younger goes first, since it is to replace the other. */
  readonly rank: number;
  readonly createdMs: number;
  /** The lane, in the form `<what it connects>#<number>`. */
  readonly lane: string;
  readonly counter: RouteCounter;
}

/** What of a placed flow says whether another one fits beside it. */
export type LanePlace = Pick<Placed, 'flow' | 'set' | 'lane'>;

/** What flows must have in common to share a pair of connections; a buffer is shared only within a set. */
export const kindOfLane = ({ from, to, qos, version, buffer }: Flow, set: string): string =>
  [from.key, to.key, qos, version, ...(buffer === undefined ? [] : ['buffer', set])].join(' ');

const setOf = ({ set, flow }: Pick<Placed, 'set' | 'flow'>): string => `${set} ${flow.from.key} ${flow.to.key}`;

/**
 * Whether a new flow can go where another one is: their subscriptions must not overlap, or a broker may deliver a message once
 * for each [MQTT-3.3.5-1]; where one of the same set is covered by one that is there it needs no subscription at all.
 */
const fitsWith = (there: LanePlace, flow: Flow, set: string): boolean =>
  !filtersOverlap(there.flow.filter, flow.filter) ||
  (there.set === set && filterCovers(there.flow.filter, flow.filter));

/** The number of the first lane of its kind that a flow can go into. */
export const laneFor = (flow: Flow, set: string, placed: Iterable<LanePlace>): number => {
  const kind = `${kindOfLane(flow, set)}#`;
  const unfit = new Set<number>();
  for (const there of placed) {
    if (!there.lane.startsWith(kind) || fitsWith(there, flow, set)) continue;
    unfit.add(Number(there.lane.slice(kind.length)));
  }
  let number = 0;
  while (unfit.has(number)) number += 1;
  return number;
};

/** The filters to subscribe to for these flows: those that no other of them covers. */
export const wantedFor = (flows: readonly Placed[]): Wanted[] => {
  const index = filterIndex<string>();
  const filters = new Map(flows.map(({ flow }) => [flow.filter, flow.qos]));
  for (const filter of filters.keys()) index.add(filter, filter);
  const isCovered = (filter: string): boolean =>
    index.match(filter).some((other) => other !== filter && filterCovers(other, filter));
  return [...filters].filter(([filter]) => !isCovered(filter)).map(([filter, qos]) => ({ filter, qos }));
};

const goesBefore = (left: Placed, right: Placed): boolean => {
  if (left.rank !== right.rank) return left.rank < right.rank;
  if (left.createdMs !== right.createdMs) return left.createdMs > right.createdMs;
  return left.mirrorId > right.mirrorId;
};

/** All flows by set, to find who gets a topic. */
export interface FlowSets {
  readonly add: (placed: Placed) => () => void;
  /** The flow of the same set that a topic belongs to, and where it goes; null when none wants it. */
  readonly winner: (one: Placed, topic: string) => { readonly placed: Placed; readonly topic: string } | null;
}

/** No flows yet. */
export const flowSets = (): FlowSets => {
  const sets = new Map<string, { readonly index: FilterIndex<Placed>; size: number }>();
  return {
    add: (placed) => {
      const key = setOf(placed);
      const set = sets.get(key) ?? { index: filterIndex<Placed>(), size: 0 };
      sets.set(key, set);
      const remove = set.index.add(placed.flow.filter, placed);
      set.size += 1;
      return () => {
        remove();
        set.size -= 1;
        if (set.size === 0) sets.delete(key);
      };
    },
    winner: (one, topic) => {
      let best: { readonly placed: Placed; readonly topic: string } | null = null;
      for (const placed of sets.get(setOf(one))?.index.match(topic) ?? []) {
        if (best !== null && goesBefore(best.placed, placed)) continue;
        const mapped = placed.flow.wants(topic) ? placed.flow.mapping.topic(topic) : null;
        if (mapped !== null && mapped !== '') best = { placed, topic: mapped };
      }
      return best;
    },
  };
};

/**
 * Whether a sink must take a topic. It hangs up on one with a wildcard or NUL [MQTT-3.3.2-2], and may on one with control characters
 * or what Unicode says is no character [MQTT-1.5.3], as mosquitto does; not every source is so strict.
 */
const isTakenBySinks = (topic: string): boolean => !/[+#\p{Cc}\p{Noncharacter_Code_Point}]/u.test(topic);

const routeOf = ({ placed, topic }: NonNullable<ReturnType<FlowSets['winner']>>): Route => {
  const { flow, counter } = placed;
  const { retain, form, contentType } = flow;
  return {
    topic,
    retain,
    // No payload is small enough for a topic that would end the connection again and again.
    maxBytes: isTakenBySinks(topic) ? flow.maxBytes : -1,
    counter,
    ...(form !== undefined && { form }),
    ...(contentType !== undefined && { contentType }),
  };
};

/** Where the messages of a lane go: topics that belong to a flow of another lane are left to that one. */
export const laneMap = (lane: string, flows: readonly Placed[], sets: FlowSets): RouteMap => {
  const index = filterIndex<Placed>();
  for (const placed of flows) index.add(placed.flow.filter, placed);
  return (topic): Route | null => {
    const [one] = index.match(topic);
    const best = one === undefined ? null : sets.winner(one, topic);
    return best === null || best.placed.lane !== lane ? null : routeOf(best);
  };
};

/** Where the messages of one flow go. */
export const flowMap =
  (placed: Placed, sets: FlowSets): RouteMap =>
  (topic) => {
    const best = sets.winner(placed, topic);
    return best?.placed === placed ? routeOf(best) : null;
  };
