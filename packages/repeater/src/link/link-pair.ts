import { type AppError, toAppError } from '@infrakit/core';
import { maxUnacknowledged } from '../buffer/intake-window.ts';
import { noLimits } from '../wire/broker-limits.ts';
import { hungUp, isOtherVersion } from '../wire/handshake.ts';
import type { RelayTerms } from '../wire/relay.ts';
import type { Endpoint } from './endpoint.ts';
import { type ConnectDeps, type Connected, type ConnectWish, connectTo, dropSession, leave } from './link-connect.ts';

/**
 * What is spoken with the brokers. 4: 3.1.1 with both. 5: MQTT 5 with the source, which must speak it. `both`: MQTT 5 where both
 * speak it. `source`: MQTT 5 with the source where it speaks it.
 */
export type VersionChoice = 4 | 5 | 'both' | 'source';

/** How both sides are connected, but for the version. */
export interface PairWish {
  readonly from: Endpoint;
  readonly to: Endpoint;
  readonly qos: 0 | 1 | 2;
  readonly choice: VersionChoice;
  readonly source: Omit<ConnectWish, 'version'>;
  readonly sink: Omit<ConnectWish, 'version'>;
}

/** Both sides, connected. */
export interface Pair {
  readonly source: Connected;
  readonly sink: Connected;
  readonly terms: Omit<RelayTerms, 'maxHops' | 'hop'>;
}

/** Whether a broker may have refused us for the version alone; one that knows no other hangs up without a word. */
const mayBeOtherVersion = (error: AppError): boolean => isOtherVersion(error) || hungUp(error);

/** MQTT 5 where the broker speaks it, else 3.1.1. */
export const connectNewest = async (
  endpoint: Endpoint,
  wish: Omit<ConnectWish, 'version'>,
  deps: ConnectDeps,
): Promise<Connected> => {
  const isInProcess = wish.isReader === true && endpoint.openReader !== undefined;
  if (isInProcess || (endpoint.isLog && !endpoint.isBuffer)) return connectTo(endpoint, { ...wish, version: 4 }, deps);
  try {
    return await connectTo(endpoint, { ...wish, version: 5 }, deps);
  } catch (thrown) {
    if (!mayBeOtherVersion(toAppError(thrown))) throw thrown;
    const { receiveMaximum: _, ...plain } = wish;
    return connectTo(endpoint, { ...plain, version: 4 }, deps);
  }
};

/** A sink that is spoken to in 3.1.1 is asked in MQTT 5 what it takes. */
const askLimits = async ({ to, sink }: PairWish, deps: ConnectDeps): Promise<typeof noLimits> => {
  if (to.isLog) return noLimits;
  const wish: ConnectWish = { ...sink, clientId: `${sink.clientId}w`, clean: true, version: 5 };
  try {
    const { stream, limits } = await connectTo(to, wish, deps);
    await leave(stream, deps.clock);
    return limits;
  } catch (thrown) {
    if (mayBeOtherVersion(toAppError(thrown))) return noLimits;
    throw thrown;
  }
};

/**
 * How many messages may be under way to the sink. With QoS 2 one below what it allows: a sink that has as many as that on its list
 * refuses even one of those when it comes again after a reconnect.
 */
const windowOf = (qos: 0 | 1 | 2, receiveMaximum: number): number =>
  receiveMaximum >= noLimits.receiveMaximum ? receiveMaximum : Math.max(1, receiveMaximum - (qos === 2 ? 1 : 0));

/** What the sink still knows of packet ids is worth nothing, and harmful, once the source has begun anew. */
const freshSink = async ({ to, sink: wish }: PairWish, sink: Connected, deps: ConnectDeps): Promise<Connected> => {
  const again: ConnectWish = { ...wish, version: sink.version };
  await leave(sink.stream, deps.clock);
  await dropSession(to, again, deps);
  return connectTo(to, again, deps);
};

/** Connects both sides. Errors: those of {@link connectTo}; nothing is left open then. */
export const connectPair = async (wish: PairWish, deps: ConnectDeps): Promise<Pair> => {
  const { from, to, qos, choice } = wish;
  const asked = choice === 4 ? await askLimits(wish, deps) : null;
  // The sink first: a source whose messages have nowhere to go is left alone.
  let sink =
    asked === null ? await connectNewest(to, wish.sink, deps) : await connectTo(to, { ...wish.sink, version: 4 }, deps);
  const limits = asked ?? sink.limits;
  const window = windowOf(qos, limits.receiveMaximum);
  let source: Connected | null = null;
  try {
    const isPlain = choice === 4 || (choice === 'both' && sink.version === 4);
    const asReader = { ...wish.source, receiveMaximum: to.isBuffer === true ? maxUnacknowledged : window };
    if (isPlain) source = await connectTo(from, { ...wish.source, version: 4 }, deps);
    else if (choice === 5) source = await connectTo(from, { ...asReader, version: 5 }, deps);
    else source = await connectNewest(from, asReader, deps);
    if (sink.hadSession && !source.hadSession) sink = await freshSink(wish, sink, deps);
    return { source, sink, terms: { source: source.version, sink: sink.version, limits, window } };
  } catch (error) {
    sink.stream.destroy();
    source?.stream.destroy();
    throw error;
  }
};
