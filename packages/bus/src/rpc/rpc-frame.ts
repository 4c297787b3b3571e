import { isUtf8 } from 'node:buffer';
import { AppError } from '@infrakit/core';
import type { After } from '@infrakit/spi';
import type { ChunkLimits } from './chunks.ts';

/** Time, for both ends of a call. */
export interface RpcClock {
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  readonly after: After;
}

/** Sizes that both ends of a call keep to. */
export interface RpcLimits extends ChunkLimits {
  /** The largest payload before a message travels in pieces. */
  readonly chunkBytes: number;
}

/** Small enough for every broker's packet limit that we know of, large enough that 20 MB are 80 packets. */
export const defaultRpcLimits: RpcLimits = {
  chunkBytes: 256 * 2 ** 10,
  maxMessageBytes: 128 * 2 ** 20,
  maxBytes: 256 * 2 ** 20,
  maxCount: 1_000,
  maxIdleMs: 30_000,
};

/** A message as the text that travels. Errors: `PAYLOAD_TOO_LARGE`, and `RESULT_INVALID` for what is no JSON (a cycle, a bigint). */
export const encodeFrame = (message: object, maxMessageBytes: number): string => {
  let text: string;
  try {
    text = JSON.stringify(message);
  } catch (cause) {
    throw new AppError('RESULT_INVALID', 'this cannot be said as JSON, so it cannot be sent', { cause });
  }
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxMessageBytes) return text;
  throw new AppError('PAYLOAD_TOO_LARGE', `${bytes} bytes are too many for one call; ask for less at a time`, {
    facts: { bytes, maxMessageBytes },
  });
};

/** The JSON value of a message, or `undefined` where the bytes are none. */
export const decodeFrame = (bytes: Uint8Array): unknown => {
  if (!isUtf8(bytes)) return undefined;
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
  } catch {
    return undefined;
  }
};

/**
 * Freezes a value that nobody else holds, deeply and in place: a list that was just parsed need not be copied first.
 * For JSON values. The loop keeps its own stack, for a sender may nest without end.
 */
export const freezeParsed = <T>(value: T): T => {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null) continue;
    Object.freeze(next);
    for (const child of Object.values(next)) if (typeof child === 'object' && child !== null) open.push(child);
  }
  return value;
};
