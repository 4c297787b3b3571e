import { AppError } from '@infrakit/core';

/**
 * Holds publishes back so that a sink never has more QoS 2 messages of ours under way than it allows: one that gets more hangs up
 * [MQTT5-3.3.4-9]. What comes behind a held one is held too, so that the order stays.
 */
export interface PublishWindow {
  /** Whether a publish may go now; it then counts until it is completed. */
  readonly admits: (qos: number, id: number) => boolean;
  readonly hold: (frame: Buffer, qos: number, id: number) => void;
  /** The sink has completed a QoS 2 message: gives what may go now. */
  readonly completed: (id: number) => readonly Buffer[];
}

interface Held {
  readonly frame: Buffer;
  readonly qos: number;
  readonly id: number;
}

/** A source that sends more than this, in bytes, without waiting for us is left. */
const maxHeldBytes = 64 * 1024 * 1024;

/** A window for `most` QoS 2 messages; null for a sink that takes as many as there are packet ids. */
export const publishWindow = (most: number): PublishWindow | null => {
  if (most >= 65_535) return null;
  const underWay = new Set<number>();
  let held: Held[] = [];
  let heldBytes = 0;
  const isOpenFor = (qos: number, id: number): boolean => qos < 2 || underWay.has(id) || underWay.size < most;
  return {
    admits: (qos, id) => {
      if (held.length > 0 || !isOpenFor(qos, id)) return false;
      if (qos === 2) underWay.add(id);
      return true;
    },
    hold: (frame, qos, id) => {
      held.push({ frame, qos, id });
      heldBytes += frame.length;
      if (heldBytes > maxHeldBytes) throw new AppError('BUS_UNAVAILABLE', 'the source does not wait for the sink');
    },
    completed: (id) => {
      underWay.delete(id);
      let count = 0;
      for (const next of held) {
        if (!isOpenFor(next.qos, next.id)) break;
        if (next.qos === 2) underWay.add(next.id);
        heldBytes -= next.frame.length;
        count += 1;
      }
      const free = held.slice(0, count).map(({ frame }) => frame);
      if (count > 0) held = held.slice(count);
      return free;
    },
  };
};
