import { AppError } from '@infrakit/core';
import type { Connection } from '../connection/connection.ts';

/** Pieces on their way at once: enough to keep a broker busy, and room for others in between. */
const inFlight = 8;

/**
 * Publishes the payloads of one message in order, so that the last arrives last. Errors: those of the connection, and
 * `BUS_UNAVAILABLE` when `signal` aborts; then a part may have gone.
 */
export const publishAll = async (
  connection: Connection,
  topic: string,
  payloads: readonly Uint8Array[],
  signal: AbortSignal,
): Promise<void> => {
  for (let at = 0; at < payloads.length; at += inFlight) {
    if (signal.aborted) throw new AppError('BUS_UNAVAILABLE', `${topic}: the time is over`, { cause: signal.reason });
    const batch = payloads.slice(at, at + inFlight);
    await Promise.all(batch.map((payload) => connection.publish(topic, payload, { qos: 1, signal })));
  }
};
