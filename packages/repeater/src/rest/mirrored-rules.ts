import { dirname, join } from 'node:path';
import { AppError } from '@infrakit/core';
import type { Clock } from '@infrakit/runtime';
import type { Log } from '@infrakit/spi';
import type { EndpointDeps } from '../link/endpoint.ts';
import { findLoop, loopText } from '../mirror/loop-proof.ts';
import { Mirror, type MirrorBuffer, type MirrorSink, type MirrorSource } from '../mirror/mirror.ts';
import { mirrorEngine } from '../mirror/mirror-engine.ts';
import { kindOfLane, type LanePlace, laneFor } from '../mirror/mirror-lanes.ts';
import { type Flow, flowsOf, hopOf } from '../wire/flow.ts';
import type { AppChange, AppRule, AppRules } from './app-rule.ts';
import { type KeptRule, openRuleLog } from './rule-log.ts';

/** Between what the rules mirror. */
export interface MirroredRulesOptions {
  readonly source: MirrorSource;
  readonly sink: MirrorSink;
  /** Everything that no other rule wants goes under its own topic (GP-R10), for as long as this process lives. */
  readonly allowAll: boolean;
  /** What waits on the disk while the sink is away; undefined for nothing. */
  readonly buffer?: MirrorBuffer;
  /** The file that keeps the rules. */
  readonly path: string;
}

export interface MirroredRulesDeps extends Omit<EndpointDeps, 'keepsBuffers'> {
  readonly clock: Clock;
  readonly random: () => number;
  readonly newId: () => string;
  readonly log: Log;
}

/** Rules that are mirrored. */
export interface MirroredRules extends AppRules {
  readonly close: () => Promise<void>;
}

const probeMs = 5_000;
const maxBytes = 64 * 1024 * 1024;
const maxHops = 8;
/** Rules share their topics out among each other: the first that matches has a topic. */
const set = 'rules';
const everything: AppRule = { sourcetopic: '.', sinktopic: '.' };

interface Entry {
  readonly kept: KeptRule;
  readonly flows: readonly Flow[];
  /** Whether it outlives this process. */
  readonly isDurable: boolean;
}

const done = (created = 0): AppChange => ({ kind: 'done', created });

const twice = (topics: readonly string[]): string[] => [
  ...new Set(topics.filter((topic, at) => topics.indexOf(topic) !== at)),
];

/**
 * Opens the rules that are kept at `path` and mirrors them. A change is checked as a whole, made durable, then applied (GP-R6).
 * Errors: `SPEC_INVALID` when source or sink make no sense (GP-R2), `STORE_UNAVAILABLE`.
 */
export const openMirroredRules = async (
  options: MirroredRulesOptions,
  deps: MirroredRulesDeps,
): Promise<MirroredRules> => {
  const { source, sink } = options;
  const { clock, newId, log } = deps;
  const check = ({ sourcetopic, sinktopic }: AppRule) =>
    flowsOf(Mirror.parse({ Source: source, Sink: sink, Buffer: options.buffer, sourcetopic, sinktopic }), {
      ...deps,
      keepsBuffers: true,
    });
  const ends = check(everything);
  if (ends.faults.length > 0) throw new AppError('SPEC_INVALID', ends.faults.join('; '));

  const ruleLog = await openRuleLog(options.path, deps);
  const engine = mirrorEngine({
    bufferFolder: join(dirname(options.path), 'buffers'),
    retainFolder: null,
    identity: ruleLog.identity,
    clock,
    random: deps.random,
    log,
    probeMs,
    maxBytes,
    maxHops,
    changed: () => undefined,
  });
  let entries: ReadonlyMap<string, Entry> = new Map();

  /** Everything comes last, whenever it was added: the first rule that matches has the topic. */
  const rankOf = ({ kept }: Entry, at: number): number => (kept.sourcetopic === '.' ? Number.MAX_SAFE_INTEGER : at);

  /** Keeps the lanes of a rule that is there; a new one gets those that fit beside all others, also those of the same change. */
  const place = (rule: AppRule, flows: readonly Flow[], all: ReadonlyMap<string, Entry>): KeptRule => {
    const before = all.get(rule.sourcetopic)?.kept;
    const there = [...all.values()].flatMap(({ kept, flows: placed }) =>
      placed.map((flow, n): LanePlace => ({ flow, set, lane: `${kindOfLane(flow, set)}#${kept.lanes[n] ?? 0}` })),
    );
    return {
      ...rule,
      id: before?.id ?? newId(),
      createdMs: before?.createdMs ?? clock.now(),
      lanes: before === undefined ? flows.map((flow) => laneFor(flow, set, there)) : [...before.lanes],
    };
  };

  const start = (entry: Entry, at: number): void => {
    const { id, createdMs, lanes } = entry.kept;
    engine.put({ id, flows: entry.flows, set, rank: rankOf(entry, at), createdMs, lanes });
  };

  const become = async (next: ReadonlyMap<string, Entry>): Promise<void> => {
    const durable = [...next.values()].filter(({ isDurable }) => isDurable);
    await ruleLog.write(durable.map(({ kept }) => kept));
    const before = entries;
    entries = next;
    for (const [topic, { kept }] of before) if (!next.has(topic)) engine.remove(kept.id);
    [...next].forEach(([topic, entry], at) => {
      if (before.get(topic) !== entry) start(entry, at);
    });
  };

  /** What the rules would be with these too, or what is wrong with that. */
  const withRules = (rules: readonly AppRule[]): ReadonlyMap<string, Entry> | readonly string[] => {
    const next = new Map(entries);
    const faults = twice(rules.map(({ sourcetopic }) => sourcetopic)).map((topic) => `${topic} is there twice`);
    for (const rule of rules) {
      const found = check(rule);
      faults.push(...found.faults.map((fault) => `${rule.sourcetopic}: ${fault}`));
      const before = next.get(rule.sourcetopic);
      if (before?.kept.sinktopic === rule.sinktopic && before.isDurable) continue;
      const kept = found.faults.length > 0 ? undefined : place(rule, found.flows, next);
      if (kept !== undefined) next.set(rule.sourcetopic, { kept, flows: found.flows, isDurable: true });
    }
    if (faults.length > 0) return faults;
    const loop = findLoop([...next].flatMap(([topic, { flows }]) => flows.map((flow) => hopOf(topic, flow))));
    return loop === null ? next : [`messages would go round for ever: ${loopText(loop)}`];
  };

  const upsert = async (rules: readonly AppRule[]): Promise<AppChange> => {
    const next = withRules(rules);
    if (!(next instanceof Map)) return { kind: 'invalid', faults: next as readonly string[] };
    const created = next.size - entries.size;
    const isChanged = [...next].some(([topic, entry]) => entries.get(topic) !== entry);
    if (isChanged) await become(next);
    return done(created);
  };

  let turn: Promise<unknown> = Promise.resolve();
  /** One change after the other: each is checked against what the one before made of the rules. */
  const inTurn = <T>(change: () => Promise<T>): Promise<T> => {
    const result = turn.then(change);
    turn = result.catch(() => undefined);
    return result;
  };

  const restore = (): void => {
    const there = new Map<string, Entry>();
    for (const kept of ruleLog.rules) {
      const { flows, faults } = check(kept);
      if (faults.length > 0) log.error({ topic: kept.sourcetopic, faults }, 'a kept rule cannot be mirrored any more');
      else there.set(kept.sourcetopic, { kept, flows, isDurable: true });
    }
    if (options.allowAll && !there.has('.')) {
      const kept = place(everything, ends.flows, there);
      there.set('.', { kept, flows: ends.flows, isDurable: false });
    }
    entries = there;
    [...there.values()].forEach(start);
  };
  restore();

  return {
    list: () =>
      [...entries.values()].map(({ kept: { id, sourcetopic, sinktopic } }) => {
        const { state, messages, bytes, dropped, lagMs, lastError } = engine.status(id);
        return { sourcetopic, sinktopic, state, messages, bytes, dropped, lagMs, lastError };
      }),
    add: (rules) =>
      inTurn(async () => {
        const topics = rules.map(({ sourcetopic }) => sourcetopic).filter((topic) => entries.has(topic));
        return topics.length > 0 ? { kind: 'conflict', topics } : upsert(rules);
      }),
    put: (rules) => inTurn(() => upsert(rules)),
    remove: (topics) =>
      inTurn(async () => {
        const missing = topics.filter((topic) => !entries.has(topic));
        if (missing.length > 0) return { kind: 'missing', topics: missing };
        await become(new Map([...entries].filter(([topic]) => !topics.includes(topic))));
        return done();
      }),
    close: async () => {
      await turn;
      await engine.close();
      await ruleLog.close();
    },
  };
};
