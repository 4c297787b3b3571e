import { AppError } from '@infrakit/core';

/**
 * Holds publishes back so that a sink never has more messages of ours under way than it allows: one that gets more hangs up
 * [MQTT5-3.3.4-9]. What comes behind a held one is held too, so that the order stays.
 */
export interface PublishWindow {
  /** Whether a publish may go now; it then counts until it is completed. */
  readonly admits: (qos: number, id: number) => boolean;
  readonly hold: (frame: Buffer, qos: number, id: number) => void;
  /**
   * A message is released: where it was sent on an earlier connection it counts from now on, so that a source never has more received
   * and not completed than that, however often we come anew (mosquitto forgets over a restart that more are).
   */
  readonly released: (id: number) => void;
  /** The sink has completed a message: gives what may go now. */
  readonly completed: (id: number) => readonly Buffer[];
}

interface Held {
  readonly frame: Buffer;
  readonly qos: number;
  readonly id: number;
}

/** A source that sends more than this, in bytes, without waiting for us is left. */
const maxHeldBytes = 64 * 1024 * 1024;

/** So many that have gone are kept in the list at most: to take them out costs as much as the list is long. */
const compactAfter = 4_096;

/** A window for `most` messages of QoS `least` and above; null for a sink that takes as many as there are packet ids. */
export const publishWindow = (most: number, least: 1 | 2): PublishWindow | null => {
  if (most >= 65_535) return null;
  const underWay = new Set<number>();
  let held: Held[] = [];
  /** Those before this place have gone. */
  let first = 0;
  let heldBytes = 0;
  const isOpenFor = (qos: number, id: number): boolean => qos < least || underWay.has(id) || underWay.size < most;
  return {
    admits: (qos, id) => {
      if (held.length > first || !isOpenFor(qos, id)) return false;
      if (qos >= least) underWay.add(id);
      return true;
    },
    hold: (frame, qos, id) => {
      held.push({ frame, qos, id });
      heldBytes += frame.length;
      if (heldBytes > maxHeldBytes) throw new AppError('BUS_UNAVAILABLE', 'the source does not wait for the sink');
    },
    released: (id) => void underWay.add(id),
    completed: (id) => {
      underWay.delete(id);
      const free: Buffer[] = [];
      for (let next = held[first]; next !== undefined && isOpenFor(next.qos, next.id); next = held[first]) {
        if (next.qos >= least) underWay.add(next.id);
        heldBytes -= next.frame.length;
        free.push(next.frame);
        first += 1;
      }
      if (first === held.length || first >= compactAfter) {
        held = held.slice(first);
        first = 0;
      }
      return free;
    },
  };
};
