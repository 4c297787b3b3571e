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
  payloads: Iterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> => {
  for (const batch of batchesOf(payloads, inFlight)) {
    if (signal.aborted) throw new AppError('BUS_UNAVAILABLE', `${topic}: the time is over`, { cause: signal.reason });
    await Promise.all(batch.map((payload) => connection.publish(topic, payload, { qos: 1, signal })));
  }
};

function* batchesOf<T>(items: Iterable<T>, size: number): Generator<readonly T[]> {
  let batch: T[] = [];
  for (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
