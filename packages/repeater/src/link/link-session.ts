import { AppError } from '@infrakit/core';
import type { Clock } from '@infrakit/runtime';
import { progress } from '../mirror/progress.ts';
import type { RouteMap } from '../mirror/route.ts';
import type { FrameVisitor } from '../wire/frame-cutter.ts';
import type { Wanted } from '../wire/handshake.ts';
import { packetType, pingFrame } from '../wire/mqtt-frame.ts';
import { type RelayTerms, relay } from '../wire/relay.ts';
import type { Canary } from './canary.ts';
import { type Connected, leave } from './link-connect.ts';
import { linkSubscriptions } from './link-subscriptions.ts';
import { type Unwell, unwell } from './unwell.ts';

/** What a link is to do: what it subscribes to, and where the messages go. */
export interface LinkPlan {
  readonly wanted: readonly Wanted[];
  readonly map: RouteMap;
}

/** How a connected pair fares. */
export interface SessionStatus {
  /** Why it is not well; empty when it is. */
  readonly fault: string;
  /** Whether both sides have answered a ping since they are connected, and whether the sink delivers, as far as can be told. */
  readonly hasSpoken: boolean;
  readonly hasDelivered: boolean;
  readonly unacknowledged: number;
  readonly oldestMs: number;
}

/** A connected pair at work. */
export interface LinkSession {
  readonly apply: (plan: LinkPlan) => void;
  readonly stateOf: (filter: string) => 'asked' | 'granted' | 'refused' | 'none';
  /** Filters that the source knows. */
  readonly known: () => ReadonlySet<string>;
  readonly status: () => SessionStatus;
  /** Resolves when either side has ended, with why. */
  readonly ended: Promise<Error | null>;
  /** Says goodbye to both sides. */
  readonly close: () => Promise<void>;
}

/** What a session works with. */
export interface SessionDeps {
  readonly clock: Clock;
  readonly terms: RelayTerms;
  readonly canary: Canary | null;
  /** Between two looks at whether both sides are alive, in ms. */
  readonly probeMs: number;
  readonly maxBytes: number;
  /** When the sink last took nothing on purpose, in ms; 0 for never. */
  readonly heldMs: () => number;
  /** Something about it is different: subscriptions answered, a side silent or back. */
  readonly changed: () => void;
}

/** A side that owes us an answer: since how many looks, and what it had said before. */
interface Silence {
  looks: number;
  heard: number;
}

/** Reasons of a DISCONNECT [MQTT5-3.14.2.1]. */
const farewells: Readonly<Record<number, string>> = {
  135: 'we are not allowed what we did',
  139: 'it is being shut down',
  142: 'another client goes by our client id',
  147: 'more messages were under way than it takes',
  149: 'a packet was too large',
  151: 'a quota is used up',
  152: 'its administrator wants that',
  154: 'it retains nothing',
  155: 'it does not know the QoS',
};

/** Looks without an answer after which a side is unwell, and after which it is given up. */
const [unwellAfter, deadAfter] = [1, 2];
/** The same for a sink that answers and acknowledges nothing. */
const [stalledAfter, stuckAfter] = [2, 4];

/** Why a sink ends the connection, which it says in MQTT 5. */
const farewellOf = (buffer: Buffer, body: number, end: number): string => {
  const code = end > body ? (buffer[body] ?? 0) : 0;
  return `the sink ended the connection: ${farewells[code] ?? `code ${code}`}`;
};

/** Joins two connected sides and watches over them. `before`: filters that the source still knows from the last time. */
export const linkSession = (
  source: Connected,
  sink: Connected,
  start: { readonly plan: LinkPlan; readonly before: ReadonlySet<string> },
  deps: SessionDeps,
): LinkSession => {
  const { clock, canary, probeMs, terms, changed } = deps;
  const version = terms.source;
  const heard = new Set<'source' | 'sink' | 'canary'>();
  const said = (what: 'source' | 'sink' | 'canary'): void => {
    if (heard.has(what)) return;
    heard.add(what);
    changed();
  };
  const fromSource: FrameVisitor = (buffer, at, body, end) => {
    const type = (buffer[at] ?? 0) >> 4;
    if (type === packetType.disconnect) throw new AppError('BUS_UNAVAILABLE', 'the source ended the connection');
    if (type === packetType.pingresp) said('source');
    if (type !== packetType.suback || end - body < 3) return;
    // In MQTT 5 the codes stand behind the properties; of those we ask for none.
    const codes = version === 5 ? body + 3 + (buffer[body + 2] ?? 0) : body + 2;
    subscriptions.answered(buffer.readUInt16BE(body), buffer.subarray(codes, end));
    changed();
  };
  let sinkFrames = 0;
  const fromSink: FrameVisitor = (buffer, at, body, end) => {
    sinkFrames += 1;
    const type = (buffer[at] ?? 0) >> 4;
    if (type === packetType.disconnect) throw new AppError('BUS_UNAVAILABLE', farewellOf(buffer, body, end));
    if (type === packetType.suback) canary?.granted(buffer[end - 1] ?? 0x80);
    else if (type === packetType.publish) {
      canary?.back(clock.now());
      said('canary');
    } else if (type === packetType.pingresp) said('sink');
  };
  const pair = relay(source.stream, sink.stream, {
    map: start.plan.map,
    terms,
    maxBytes: deps.maxBytes,
    fromSource,
    fromSink,
  });
  const subscriptions = linkSubscriptions(start.before, { version, send: pair.toSource });
  const behind = progress();
  const silence: Readonly<Record<'source' | 'sink', Silence>> = {
    source: { looks: 0, heard: 0 },
    sink: { looks: 0, heard: 0 },
  };
  let lookedMs = clock.now();
  let fault = '';
  /** Looks that found nothing wrong. */
  let calm = 0;
  let isOver = false;
  let stopLooking = (): void => undefined;

  const isSilent = (side: 'source' | 'sink', isReadable: boolean): boolean => {
    const own = silence[side];
    // A sink has nothing large to say: of one that sends bytes and no packet nothing was heard.
    const heard = side === 'source' ? pair.chunks() : sinkFrames + pair.confirmed();
    own.looks = heard === own.heard && isReadable ? own.looks + 1 : 0;
    own.heard = heard;
    return own.looks >= unwellAfter;
  };

  /** What is wrong at this moment; `isFatal`: no longer to be waited for. */
  const diagnose = (
    nowMs: number,
  ): { readonly kind: Unwell; readonly fault: string; readonly isFatal: boolean } | null => {
    // What was said to it meanwhile may still wait.
    const heldMs = deps.heldMs();
    const isHeld = heldMs >= lookedMs;
    lookedMs = nowMs;
    for (const side of ['sink', 'source'] as const) {
      if (side === 'sink' && isHeld) continue;
      const { stream } = side === 'sink' ? sink : source;
      if (isSilent(side, !stream.isPaused())) {
        return { kind: 'silent', fault: `the ${side} answers nothing`, isFatal: silence[side].looks >= deadAfter };
      }
    }
    const lostMs = canary?.outSinceMs() ?? null;
    const stalledMs = behind.stalledSinceMs();
    const since = Math.max(
      lostMs === null ? 0 : (nowMs - lostMs) / 2,
      stalledMs === null ? 0 : (nowMs - Math.max(stalledMs, heldMs)) / stalledAfter,
    );
    if (since < probeMs) return null;
    return {
      kind: 'stuck',
      fault: 'the sink answers, but delivers nothing',
      isFatal: since >= (probeMs * stuckAfter) / stalledAfter,
    };
  };

  const look = (): void => {
    const nowMs = clock.now();
    behind.sample(nowMs, pair.sent(), pair.confirmed());
    const found = diagnose(nowMs);
    if (found?.isFatal === true) {
      pair.end(unwell(found.kind, found.fault));
      return;
    }
    const next = found?.fault ?? '';
    calm = found === null ? calm + 1 : 0;
    const isOther = next !== fault || calm === stuckAfter + 1;
    fault = next;
    pair.toSource(pingFrame);
    pair.toSink(pingFrame);
    const probe = canary?.release(nowMs, terms.sink) ?? null;
    if (probe !== null) pair.toSink(probe);
    stopLooking = clock.after(probeMs, look);
    if (isOther) changed();
  };

  const ended = pair.ended.then((error) => {
    isOver = true;
    stopLooking();
    canary?.reset();
    return error;
  });
  if (source.stream.destroyed || sink.stream.destroyed) pair.end(null);
  else {
    const probe = canary?.subscribe(terms.sink) ?? null;
    if (probe !== null) pair.toSink(probe);
    pair.toSource(pingFrame);
    pair.toSink(pingFrame);
    subscriptions.want(start.plan.wanted);
    stopLooking = clock.after(probeMs, look);
  }

  return {
    apply: ({ wanted, map }) => {
      pair.reroute(map);
      if (!isOver) subscriptions.want(wanted);
    },
    stateOf: subscriptions.stateOf,
    known: subscriptions.known,
    status: () => ({
      fault,
      hasSpoken: heard.has('source') && heard.has('sink'),
      hasDelivered: heard.has('canary') || pair.confirmed() > 0 || calm > stuckAfter,
      unacknowledged: Math.max(0, pair.sent() - pair.confirmed()),
      oldestMs: behind.oldestMs(clock.now(), pair.confirmed()),
    }),
    ended,
    close: async () => {
      await Promise.all([leave(source.stream, clock), leave(sink.stream, clock)]);
      pair.end(null);
    },
  };
};
