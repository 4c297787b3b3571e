import type { Duplex } from 'node:stream';
import { AppError } from '@infrakit/core';
import type { Clock } from '@infrakit/runtime';
import { noLimits } from '../wire/broker-limits.ts';
import { connectMqtt, type Greeting } from '../wire/handshake.ts';
import { disconnectFrame } from '../wire/mqtt-frame.ts';
import type { Endpoint } from './endpoint.ts';
import { unwell } from './unwell.ts';

/** A connection that has been greeted; paused. */
export interface Connected extends Greeting {
  readonly stream: Duplex;
}

/** How a connection is made. */
export interface ConnectWish {
  readonly clientId: string;
  readonly clean: boolean;
  readonly keepaliveS: number;
  readonly version: 4 | 5;
  /** How many messages of QoS 1 and 2 may come at once; told only in MQTT 5. */
  readonly receiveMaximum?: number;
  /** It will publish nothing. */
  readonly isReader?: boolean;
}

/** What connecting depends on. */
export interface ConnectDeps {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Ends attempts that are under way. */
  readonly signal: AbortSignal;
}

/**
 * Connects to one side within the deadline. Errors: `BUS_UNAVAILABLE` (not there, or it says nothing), `BUS_REFUSED`, and
 * those of the endpoint. Nothing is left open then.
 */
export const connectTo = async (endpoint: Endpoint, wish: ConnectWish, deps: ConnectDeps): Promise<Connected> => {
  if (endpoint.openReader !== undefined && wish.isReader === true && wish.version === 4) {
    deps.signal.throwIfAborted();
    return { ...(await endpoint.openReader(wish)), version: 4, keepaliveS: 0, limits: noLimits };
  }
  const { stream, ...login } = await endpoint.open();
  // What goes wrong before or after somebody listens shows as the end of the stream.
  stream.on('error', () => undefined);
  let fail: (error: AppError) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const forget = deps.clock.after(deps.timeoutMs, () =>
    fail(unwell('silent', `${endpoint.name} does not answer within ${deps.timeoutMs} ms`)),
  );
  const abort = (): void => fail(new AppError('RPC_CANCELLED', 'the mirror is being stopped'));
  deps.signal.addEventListener('abort', abort);
  try {
    deps.signal.throwIfAborted();
    const greeting = await Promise.race([connectMqtt(stream, { ...wish, ...login }), failed]);
    return { ...greeting, stream };
  } catch (error) {
    stream.destroy();
    throw error;
  } finally {
    forget();
    deps.signal.removeEventListener('abort', abort);
  }
};

/** Says goodbye and closes, at the latest after a short while. */
export const leave = (stream: Duplex, clock: Clock): Promise<void> =>
  new Promise((resolve) => {
    if (stream.destroyed) return resolve();
    const forget = clock.after(500, () => stream.destroy());
    stream.once('close', () => {
      forget();
      resolve();
    });
    stream.resume();
    stream.end(disconnectFrame, () => stream.destroy());
  });

/** Makes a broker forget the session of a client. */
export const dropSession = async (endpoint: Endpoint, wish: ConnectWish, deps: ConnectDeps): Promise<void> => {
  const { stream } = await connectTo(endpoint, { ...wish, clean: true }, deps);
  await leave(stream, deps.clock);
};
