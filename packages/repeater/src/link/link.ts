import { AppError, canonicalJson, decorrelatedBackoff, toAppError } from '@infrakit/core';
import type { Clock } from '@infrakit/runtime';
import type { Log } from '@infrakit/spi';
import { isNarrow } from '../wire/broker-limits.ts';
import { isOtherVersion } from '../wire/handshake.ts';
import type { RelayTerms } from '../wire/relay.ts';
import { type Canary, canary } from './canary.ts';
import type { Endpoint } from './endpoint.ts';
import { type Connected, dropSession } from './link-connect.ts';
import { connectPair, type VersionChoice } from './link-pair.ts';
import { type LinkPlan, type LinkSession, linkSession } from './link-session.ts';
import { type Unwell, unwellOf } from './unwell.ts';

/** Between which brokers a link is, and how. */
export interface LinkOptions {
  readonly from: Endpoint;
  readonly to: Endpoint;
  /** With 1 and 2 the source keeps a session for us while we are away. */
  readonly qos: 0 | 1 | 2;
  readonly version: VersionChoice;
  /** Of letters and digits, stable over restarts, and no other link's. */
  readonly id: string;
}

export interface LinkDeps {
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly probeMs: number;
  readonly maxBytes: number;
  /** Through how many repeaters a message may come. */
  readonly maxHops: number;
  /** Its status is another one. */
  readonly changed: () => void;
  /** When the sink last took nothing on purpose, in ms, which is no fault of it; 0 for never. */
  readonly heldMs?: () => number;
}

/** What the brokers of a link speak, and what its sink takes. */
export type SpokenTerms = Pick<RelayTerms, 'source' | 'sink' | 'limits'>;

/** How a link fares. */
export interface LinkStatus {
  readonly state: 'connecting' | 'active' | 'unhealthy';
  readonly sinceMs: number;
  /** The last thing that went wrong; empty for nothing. */
  readonly lastError: string;
  /** Messages that the sink has not acknowledged, and how old the oldest of them is at least, in ms. */
  readonly unacknowledged: number;
  readonly oldestMs: number;
  /** How long the sink took to bring the last probe back, in ms; null where it is not probed. */
  readonly latencyMs: number | null;
  /** What waits on the disk, where the link has a buffer. */
  readonly buffered?: { readonly messages: number; readonly bytes: number };
  /** What was spoken with the brokers last, and what the sink takes; null before they were connected. */
  readonly spoken: SpokenTerms | null;
}

/** One pair of connections that any number of rules share. It connects again and again until it is closed. */
export interface Link {
  readonly apply: (plan: LinkPlan) => void;
  readonly status: () => LinkStatus;
  readonly stateOf: (filter: string) => 'asked' | 'granted' | 'refused' | 'none';
  /** Ends it. `isForgotten`: the brokers need not keep anything for it any more. */
  readonly close: (isForgotten: boolean) => Promise<void>;
}

const backoff = { baseMs: 100, maxMs: 15_000 };
/** After so long a connection counts as one that worked. */
const goodAfterMs = 5_000;
const forgetTimeoutMs = 2_000;

/** How seldom a broker may hear of us at most, in ms. */
const patienceOf = ({ keepaliveS }: Connected): number =>
  keepaliveS === 0 ? Number.POSITIVE_INFINITY : keepaliveS * 1_000;

/** Opens a link that begins to connect at once. */
export const openLink = (options: LinkOptions, first: LinkPlan, deps: LinkDeps): Link => {
  const { from, to, qos, version, id } = options;
  const { clock, random, log, probeMs, changed } = deps;
  const abort = new AbortController();
  const connecting = { clock, timeoutMs: probeMs, signal: abort.signal };
  const keepaliveS = Math.max(5, Math.ceil((2 * probeMs) / 1_000));
  const clientId = (end: Endpoint, side: string): string =>
    end.clientId === undefined ? `ik${side}${id}` : `${end.clientId}-${side}${id.slice(0, 8)}`;
  const sourceWish = { clientId: clientId(from, 's'), clean: qos === 0, keepaliveS, isReader: true };
  // What the sink remembers of a QoS 2 message that was not released keeps it from being doubled [MQTT-4.3.3-2].
  const sinkWish = { clientId: clientId(to, 'k'), clean: qos < 2, keepaliveS };
  const probe: Canary | null = to.isLog ? null : canary(sinkWish.clientId);

  let plan = first;
  let session: LinkSession | null = null;
  let known: ReadonlySet<string> = new Set();
  let lastError = '';
  let state: LinkStatus['state'] = 'connecting';
  let sinceMs = clock.now();
  let wake = (): void => undefined;
  /** What was the matter last: a side that was no use must show that it is of some before all is well again. */
  let doubt: Unwell | null = null;
  let spoken: SpokenTerms | null = null;

  const enter = (next: LinkStatus['state'], error: string): void => {
    const isOther = next !== state || error !== lastError;
    if (next !== state) sinceMs = clock.now();
    state = next;
    lastError = error;
    if (isOther) changed();
  };

  /** What a sink does not take is told once. */
  const meet = (terms: SpokenTerms): void => {
    const { limits } = terms;
    if (isNarrow(limits) && canonicalJson(limits) !== canonicalJson(spoken?.limits ?? null)) {
      log.warn({ sink: to.name, ...limits }, 'the sink does not take every message');
    }
    spoken = terms;
  };

  const look = (): void => {
    if (session === null) return;
    const { fault, hasSpoken, hasDelivered } = session.status();
    if (fault !== '') enter('unhealthy', fault);
    else if (state === 'active') changed();
    else if (doubt === null || (doubt === 'stuck' ? hasDelivered : hasSpoken)) {
      doubt = null;
      enter('active', lastError);
    }
  };

  /** One connection from its beginning to its end. */
  const once = async (): Promise<void> => {
    const pair = { from, to, qos, choice: version, source: sourceWish, sink: sinkWish };
    const { source, sink, terms } = await connectPair(pair, connecting);
    meet(terms);
    const before = source.hadSession ? known : new Set<string>();
    session = linkSession(
      source,
      sink,
      { plan, before },
      {
        clock,
        terms: { ...terms, maxHops: deps.maxHops, hop: to.isBuffer === true ? 0 : 1 },
        canary: probe,
        probeMs: Math.min(probeMs, ...[source, sink].map(patienceOf)),
        maxBytes: deps.maxBytes,
        heldMs: deps.heldMs ?? (() => 0),
        changed: () => look(),
      },
    );
    look();
    const error = await session.ended;
    known = session.known();
    session = null;
    throw error ?? new AppError('BUS_UNAVAILABLE', 'a broker closed the connection');
  };

  const reasonOf = (thrown: unknown): string => {
    const error = toAppError(thrown);
    if (version === 5 && isOtherVersion(error)) {
      return 'as-published needs a source that speaks MQTT 5, and this one does not';
    }
    return error.message;
  };

  const run = async (): Promise<void> => {
    let waitMs = 0;
    while (!abort.signal.aborted) {
      const startedMs = clock.now();
      try {
        await once();
      } catch (thrown) {
        if (abort.signal.aborted) return;
        const reason = reasonOf(thrown);
        doubt = unwellOf(toAppError(thrown)) ?? doubt;
        enter(doubt === null ? 'connecting' : 'unhealthy', reason);
        log.warn({ source: from.name, sink: to.name, reason }, 'a mirror lost its connection');
        if (clock.now() - startedMs > goodAfterMs) waitMs = 0;
        waitMs = decorrelatedBackoff(waitMs, random, backoff);
        await new Promise<void>((resolve) => {
          const cancel = clock.after(waitMs, resolve);
          wake = () => {
            cancel();
            resolve();
          };
        });
      }
    }
  };
  const running = run();

  /** Best effort: a broker that is away keeps the session until somebody tells it otherwise. */
  const forget = async (): Promise<void> => {
    if (qos === 0) return;
    const own = { clock, timeoutMs: forgetTimeoutMs, signal: new AbortController().signal };
    const { source = version === 5 ? 5 : 4, sink = 4 } = spoken ?? {};
    const drops = [
      dropSession(from, { ...sourceWish, version: source }, own),
      ...(qos === 2 ? [dropSession(to, { ...sinkWish, version: sink }, own)] : []),
    ];
    for (const [n, result] of (await Promise.allSettled(drops)).entries()) {
      if (result.status === 'fulfilled') continue;
      const { name } = n === 0 ? from : to;
      log.warn(
        { broker: name, reason: toAppError(result.reason).message },
        'a broker was not told to forget a session',
      );
    }
  };

  return {
    apply: (next) => {
      plan = next;
      session?.apply(next);
    },
    stateOf: (filter) => session?.stateOf(filter) ?? 'none',
    status: () => {
      const { unacknowledged = 0, oldestMs = 0 } = session?.status() ?? {};
      return { state, sinceMs, lastError, unacknowledged, oldestMs, latencyMs: probe?.latencyMs() ?? null, spoken };
    },
    close: async (isForgotten) => {
      abort.abort();
      wake();
      await session?.close();
      await running;
      if (isForgotten) await forget();
    },
  };
};
