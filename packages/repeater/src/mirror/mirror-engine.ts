import { digest } from '@infrakit/core';
import type { Clock } from '@infrakit/runtime';
import type { Log } from '@infrakit/spi';
import { type BufferBudget, type BufferSettings, bufferBudget } from '../buffer/buffer-budget.ts';
import { openBufferedLink } from '../buffer/buffered-link.ts';
import { type Link, openLink } from '../link/link.ts';
import type { LinkPlan } from '../link/link-session.ts';
import { retainScanners } from '../retain/retain-scanners.ts';
import type { Flow } from '../wire/flow.ts';
import { spokenStatus } from '../wire/spoken-status.ts';
import { flowMap, flowSets, kindOfLane, laneFor, laneMap, type Placed, wantedFor } from './mirror-lanes.ts';
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

/** What was dropped of a mirror's messages. */
export interface MirrorDrops {
  readonly dropped: number;
  /** Those of them that a full buffer had no room for. */
  readonly overflowed: number;
}

/** How a mirror fares. */
export interface MirrorStatus extends MirrorDrops {
  readonly state: 'active' | 'connecting' | 'unhealthy' | 'refused';
  readonly messages: number;
  readonly bytes: number;
  /** What waits on the disk for its connections; null without a buffer. */
  readonly buffered: { readonly messages: number; readonly bytes: number } | null;
  /** Messages of its connections that the sink has not acknowledged, and how old the oldest of them is at least, in ms. */
  readonly unacknowledged: number;
  readonly lagMs: number;
  readonly lastError: string;
  /** What is spoken: one version, or that of the source and that of the sink; empty before they were connected. */
  readonly mqtt: string;
  /** What of the rule the sink does not allow. */
  readonly notes: readonly string[];
  /** Why the last message was dropped, as far as that is told. */
  readonly lastDrop: string;
}

/** Everything that is mirrored by this process. */
export interface MirrorEngine {
  /** The lanes that a mirror can go into. They are to be kept with it: sessions at the brokers go by them. */
  readonly place: (flows: readonly Flow[], set: string) => number[];
  /** Starts a mirror, or gives one that runs another place in its set; others are not disturbed. */
  readonly put: (mirror: RunningMirror) => void;
  readonly remove: (id: string) => void;
  readonly status: (id: string) => MirrorStatus;
  /** What a mirror has dropped so far. */
  readonly drops: (id: string) => MirrorDrops;
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
  /** Where buffers are kept; null for nowhere: flows with one do not run then. */
  readonly bufferFolder: string | null;
  /** Where it is kept what was mirrored as retained by scans; null for nowhere: it is forgotten at the end of the process. */
  readonly retainFolder: string | null;
  readonly maxHops: number;
  /** Some mirror may fare differently. */
  readonly changed: () => void;
}

interface Lane {
  readonly flows: Set<Placed>;
  link: Link | null;
  isStale: boolean;
}

const order = ['active', 'connecting', 'unhealthy', 'refused'] as const satisfies readonly MirrorStatus['state'][];

const sumOf = (parts: readonly { readonly messages: number; readonly bytes: number }[]): MirrorStatus['buffered'] =>
  parts.length === 0
    ? null
    : {
        messages: parts.reduce((sum, { messages }) => sum + messages, 0),
        bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
      };

/** Changes that come within this time, in ms, are made together. */
const gatherMs = 5;

/** An engine that mirrors nothing yet. */
export const mirrorEngine = (deps: EngineDeps): MirrorEngine => {
  const { identity, clock, random, log, probeMs, maxBytes, maxHops, bufferFolder, changed } = deps;
  const lanes = new Map<string, Lane>();
  const closing = new Map<string, Promise<void>>();
  const mirrors = new Map<string, { readonly placed: readonly Placed[]; readonly forget: readonly (() => void)[] }>();
  const counters = new Map<string, RouteCounter>();
  /** By set: what its buffers may keep together. */
  const budgets = new Map<string, BufferBudget>();
  const sets = flowSets();
  const scanners = retainScanners({
    identity,
    clock,
    log,
    timeoutMs: 2 * probeMs,
    maxBytes,
    folder: deps.retainFolder,
    mapOf: (placed) => flowMap(placed, sets),
    sourceVersion: ({ lane }) => lanes.get(lane)?.link?.status().spoken?.source ?? null,
    changed,
  });
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

  const open = (key: string, { flow, set }: Placed, plan: LinkPlan): Link => {
    const { from, to, qos, version, buffer } = flow;
    const options = { from, to, qos, version, id: digest([identity, key]).slice(0, 18) };
    const linkDeps = { clock, random, log, probeMs, maxBytes, maxHops, changed };
    const budget = budgets.get(set);
    if (buffer === undefined || budget === undefined || bufferFolder === null) return openLink(options, plan, linkDeps);
    return openBufferedLink(options, plan, { ...linkDeps, bufferFolder, budget });
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
    lane.link = open(key, first, plan);
  };

  /** The settings that came last are those of the whole set. */
  const budgetOf = (set: string, settings: BufferSettings): void => {
    const known = budgets.get(set);
    if (known === undefined) budgets.set(set, bufferBudget(settings));
    else known.set(settings);
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

  type PartStatus = Omit<MirrorStatus, keyof RouteCounter>;
  const nothing: PartStatus = {
    state: 'connecting',
    unacknowledged: 0,
    lagMs: 0,
    lastError: '',
    buffered: null,
    mqtt: '',
    notes: [],
  };

  const statusOf = ({ flow, lane }: Placed): PartStatus => {
    const { link = null, isStale = true } = lanes.get(lane) ?? {};
    if (link === null || isStale) return nothing;
    const { state, lastError, unacknowledged, oldestMs: lagMs, buffered = null, spoken } = link.status();
    const common = { unacknowledged, lagMs, lastError, buffered, ...spokenStatus(flow, spoken) };
    if (state !== 'active') return { ...common, state };
    const own = link.stateOf(flow.filter);
    if (own === 'refused') return { ...common, state: 'refused', lastError: `the source refuses ${flow.filter}` };
    const isCovered = (): boolean =>
      [...(lanes.get(lane)?.flows ?? [])].some((other) => link.stateOf(other.flow.filter) === 'granted');
    const isReady = own === 'granted' || (own === 'none' && isCovered());
    return { ...common, state: isReady ? 'active' : 'connecting' };
  };

  const drops: MirrorEngine['drops'] = (id) => {
    const { dropped, overflowed } = counters.get(id) ?? routeCounter();
    return { dropped: dropped + overflowed, overflowed };
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
        const lane = `${kindOfLane(flow, set)}#${numbers[n] ?? 0}`;
        return { mirrorId: id, flow, set, rank, createdMs, lane, counter };
      });
      for (const { buffer } of flows) if (buffer !== undefined) budgetOf(set, buffer);
      mirrors.set(id, { placed, forget: placed.map(sets.add) });
      for (const one of placed) {
        const lane = lanes.get(one.lane) ?? { flows: new Set(), link: null, isStale: true };
        lanes.set(one.lane, lane);
        lane.flows.add(one);
        touch(one);
      }
      scanners.put(id, placed);
    },
    remove: (id) => {
      take(id);
      scanners.remove(id);
      counters.delete(id);
    },
    drops,
    status: (id) => {
      const { messages, bytes, lastDrop } = counters.get(id) ?? routeCounter();
      const parts = (mirrors.get(id)?.placed ?? []).map(statusOf);
      const worst = parts.toSorted((left, right) => order.indexOf(right.state) - order.indexOf(left.state))[0];
      return {
        state: worst?.state ?? 'connecting',
        messages,
        bytes,
        ...drops(id),
        buffered: sumOf(parts.flatMap(({ buffered }) => buffered ?? [])),
        unacknowledged: Math.max(0, ...parts.map(({ unacknowledged }) => unacknowledged)),
        lagMs: Math.max(0, ...parts.map(({ lagMs }) => lagMs)),
        lastError: worst?.lastError ?? '',
        mqtt: [...new Set(parts.map(({ mqtt }) => mqtt).filter(Boolean))].join(', '),
        notes: [...new Set([...parts.flatMap(({ notes }) => notes), ...scanners.notes(id)])],
        lastDrop,
      };
    },
    close: async () => {
      isClosed = true;
      await Promise.all([
        scanners.close(),
        ...closing.values(),
        ...[...lanes].map(([key, lane]) => end(key, lane, false)),
      ]);
    },
  };
};
