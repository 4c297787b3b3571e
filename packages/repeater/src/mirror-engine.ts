import { digest } from '@infrakit/core';
import type { Clock } from '@infrakit/runtime';
import type { Log } from '@infrakit/spi';
import type { Flow } from './flow.ts';
import { type Link, openLink } from './link.ts';
import { flowSets, kindOfLane, laneFor, laneMap, type Placed, wantedFor } from './mirror-lanes.ts';
import { type RouteCounter, routeCounter } from './route.ts';

/** A mirror that is to run. */
export interface RunningMirror {
  readonly id: string;
  readonly flows: readonly Flow[];
  readonly set: string;
  readonly rank: number;
  readonly createdMs: number;
  /** For each flow the number of its lane, by {@link MirrorEngine.place}. */
  readonly lanes: readonly number[];
}

/** How a mirror fares. */
export interface MirrorStatus {
  readonly state: 'active' | 'connecting' | 'unhealthy' | 'refused';
  readonly messages: number;
  readonly bytes: number;
  readonly dropped: number;
  /** Messages of its connections that the sink has not acknowledged, and how old the oldest of them is at least, in ms. */
  readonly unacknowledged: number;
  readonly lagMs: number;
  readonly lastError: string;
}

/** Everything that is mirrored by this process. */
export interface MirrorEngine {
  /** The lanes that a mirror can go into. They are to be kept with it: sessions at the brokers go by them. */
  readonly place: (flows: readonly Flow[], set: string) => number[];
  /** Starts a mirror, or gives one that runs another place in its set; others are not disturbed. */
  readonly put: (mirror: RunningMirror) => void;
  readonly remove: (id: string) => void;
  readonly status: (id: string) => MirrorStatus;
  /** Ends all connections; what the sources keep is kept. */
  readonly close: () => Promise<void>;
}

export interface EngineDeps {
  /** Part of the client ids: the same for the same repeater, and nobody else's. */
  readonly identity: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly probeMs: number;
  readonly maxBytes: number;
  /** Some mirror may fare differently. */
  readonly changed: () => void;
}

interface Lane {
  readonly flows: Set<Placed>;
  link: Link | null;
  isStale: boolean;
}

const order = ['active', 'connecting', 'unhealthy', 'refused'] as const satisfies readonly MirrorStatus['state'][];

/** Changes that come within this time, in ms, are made together. */
const gatherMs = 5;

/** An engine that mirrors nothing yet. */
export const mirrorEngine = (deps: EngineDeps): MirrorEngine => {
  const { identity, clock, random, log, probeMs, maxBytes, changed } = deps;
  const lanes = new Map<string, Lane>();
  const closing = new Map<string, Promise<void>>();
  const mirrors = new Map<string, { readonly placed: readonly Placed[]; readonly forget: readonly (() => void)[] }>();
  const counters = new Map<string, RouteCounter>();
  const sets = flowSets();
  let isClosed = false;
  let isRefreshing = false;

  const end = (key: string, lane: Lane, isForgotten: boolean): Promise<void> => {
    lanes.delete(key);
    if (lane.link === null) return Promise.resolve();
    const ended = lane.link.close(isForgotten).finally(() => {
      closing.delete(key);
      if (!isClosed) refreshSoon();
    });
    closing.set(key, ended);
    return ended;
  };

  const refreshLane = (key: string, lane: Lane): void => {
    const flows = [...lane.flows];
    const [first] = flows;
    if (first === undefined) {
      void end(key, lane, true);
      return;
    }
    // The old connections of a lane go by the same names.
    if (closing.has(key)) return;
    lane.isStale = false;
    const plan = { wanted: wantedFor(flows), map: laneMap(key, flows, sets) };
    if (lane.link !== null) {
      lane.link.apply(plan);
      return;
    }
    const { from, to, qos, version } = first.flow;
    const id = digest([identity, key]).slice(0, 18);
    lane.link = openLink({ from, to, qos, version, id }, plan, { clock, random, log, probeMs, maxBytes, changed });
  };

  /** Many changes in a short time are one change of each lane. */
  const refreshSoon = (): void => {
    if (isRefreshing) return;
    isRefreshing = true;
    clock.after(gatherMs, () => {
      isRefreshing = false;
      if (isClosed) return;
      for (const [key, lane] of [...lanes]) if (lane.isStale) refreshLane(key, lane);
      changed();
    });
  };

  /** The lanes of flows that may win or lose topics by a change of this one. */
  const touch = (placed: Placed): void => {
    for (const lane of lanes.values()) {
      for (const other of lane.flows) {
        if (other !== placed && other.set !== placed.set) continue;
        lane.isStale = true;
        break;
      }
    }
    refreshSoon();
  };

  const take = (id: string): void => {
    const running = mirrors.get(id);
    if (running === undefined) return;
    mirrors.delete(id);
    for (const forget of running.forget) forget();
    for (const placed of running.placed) {
      touch(placed);
      lanes.get(placed.lane)?.flows.delete(placed);
    }
  };

  const statusOf = ({ flow, lane }: Placed): Pick<MirrorStatus, 'state' | 'unacknowledged' | 'lagMs' | 'lastError'> => {
    const { link = null, isStale = true } = lanes.get(lane) ?? {};
    if (link === null || isStale) return { state: 'connecting', unacknowledged: 0, lagMs: 0, lastError: '' };
    const { state, lastError, unacknowledged, oldestMs: lagMs } = link.status();
    const common = { unacknowledged, lagMs, lastError };
    if (state !== 'active') return { ...common, state };
    const covering = [...(lanes.get(lane)?.flows ?? [])].map((other) => link.stateOf(other.flow.filter));
    const own = link.stateOf(flow.filter);
    if (own === 'refused') return { ...common, state: 'refused', lastError: `the source refuses ${flow.filter}` };
    const isReady = own === 'granted' || (own === 'none' && covering.includes('granted'));
    return { ...common, state: isReady ? 'active' : 'connecting' };
  };

  return {
    place: (flows, set) => {
      const there = [...mirrors.values()].flatMap(({ placed }) => placed);
      return flows.map((flow) => laneFor(flow, set, there));
    },
    put: ({ id, flows, set, rank, createdMs, lanes: numbers }) => {
      take(id);
      const counter = counters.get(id) ?? routeCounter();
      counters.set(id, counter);
      const placed = flows.map((flow, n): Placed => {
        const lane = `${kindOfLane(flow)}#${numbers[n] ?? 0}`;
        return { mirrorId: id, flow, set, rank, createdMs, lane, counter };
      });
      mirrors.set(id, { placed, forget: placed.map(sets.add) });
      for (const one of placed) {
        const lane = lanes.get(one.lane) ?? { flows: new Set(), link: null, isStale: true };
        lanes.set(one.lane, lane);
        lane.flows.add(one);
        touch(one);
      }
    },
    remove: (id) => {
      take(id);
      counters.delete(id);
    },
    status: (id) => {
      const { messages, bytes, dropped } = counters.get(id) ?? routeCounter();
      const parts = (mirrors.get(id)?.placed ?? []).map(statusOf);
      const worst = parts.toSorted((left, right) => order.indexOf(right.state) - order.indexOf(left.state))[0];
      return {
        state: worst?.state ?? 'connecting',
        messages,
        bytes,
        dropped,
        unacknowledged: Math.max(0, ...parts.map(({ unacknowledged }) => unacknowledged)),
        lagMs: Math.max(0, ...parts.map(({ lagMs }) => lagMs)),
        lastError: worst?.lastError ?? '',
      };
    },
    close: async () => {
      isClosed = true;
      await Promise.all([...closing.values(), ...[...lanes].map(([key, lane]) => end(key, lane, false))]);
    },
  };
};
