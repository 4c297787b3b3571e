import { generate, type IPublishPacket } from 'mqtt-packet';
import { canaryPrefix } from '../wire/flow.ts';
import { subscribeFrame } from '../wire/handshake.ts';

/**
 * A probe that a sink must bring back to us on the connection that the mirrored messages take: it shows that the sink routes,
 * not only that it is there. A sink that lets us publish or subscribe no such topic is not probed so.
 */
export interface Canary {
  /** What to send at the start of a connection; null when this sink is not probed. */
  readonly subscribe: (version: 4 | 5) => Buffer | null;
  /** The sink said whether we may. */
  readonly granted: (code: number) => void;
  /** The next probe to send; null when there is none, or the last one is still out. */
  readonly release: (nowMs: number, version: 4 | 5) => Buffer | null;
  /** One came back. */
  readonly back: (nowMs: number) => void;
  /** The connection has ended. */
  readonly reset: () => void;
  /** Since when a probe is out, in ms; null for none. */
  readonly outSinceMs: () => number | null;
  /** How long the last one took, in ms; null before the first. */
  readonly latencyMs: () => number | null;
}

/** Probes that a sink may keep to itself before it is taken to forbid them. */
const patience = 2;

/** A canary for the sink connection `clientId`. Its QoS is 0, so that it needs no packet id of the mirrored messages. */
export const canary = (clientId: string): Canary => {
  const topic = canaryPrefix + clientId;
  let [isGranted, hasReturned] = [false, false];
  let lost = 0;
  let outSinceMs: number | null = null;
  let latencyMs: number | null = null;
  const isForbidden = (): boolean => !hasReturned && lost >= patience;
  return {
    subscribe: (version) => (isForbidden() ? null : subscribeFrame([{ filter: topic, qos: 0 }], 1, version)),
    granted: (code) => {
      isGranted = code < 0x80;
    },
    release: (nowMs, version) => {
      if (!isGranted || isForbidden()) return null;
      if (outSinceMs !== null) {
        if (!hasReturned) {
          lost += 1;
          outSinceMs = null;
        }
        return null;
      }
      outSinceMs = nowMs;
      const probe: IPublishPacket = { cmd: 'publish', topic, payload: '', qos: 0, dup: false, retain: false };
      return generate(probe, { protocolVersion: version });
    },
    back: (nowMs) => {
      hasReturned = true;
      lost = 0;
      if (outSinceMs !== null) latencyMs = Math.max(0, nowMs - outSinceMs);
      outSinceMs = null;
    },
    reset: () => {
      if (outSinceMs !== null && !hasReturned) lost += 1;
      outSinceMs = null;
      isGranted = false;
    },
    outSinceMs: () => (hasReturned ? outSinceMs : null),
    latencyMs: () => latencyMs,
  };
};
