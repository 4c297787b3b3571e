import { AppError, RpcChunk } from '@infrakit/core';
import type { After } from '@infrakit/spi';

/** What marks a piece: a whole message begins with another member. */
const markText = '{"chunk":';
const mark = Buffer.from(markText);
const newline = 0x0a;
/** The longest first line that is looked for. */
const maxLineBytes = 1_024;
/** What keeping a piece costs beside its bytes. */
const pieceOverheadBytes = 256;

/** Bounds of what is kept of messages that are not complete yet. */
export interface ChunkLimits {
  /** The largest message. */
  readonly maxMessageBytes: number;
  /** All pieces together. */
  readonly maxBytes: number;
  /** Messages begun and not complete. */
  readonly maxCount: number;
  /** A message of which no piece came for so long is given up. */
  readonly maxIdleMs: number;
}

/** What came of one payload. */
export type Assembled =
  | { readonly kind: 'complete'; readonly bytes: Uint8Array }
  | { readonly kind: 'partial' }
  | { readonly kind: 'bad'; readonly reason: string };

/** Puts messages together again: each is complete or does not come at all, never shorter. */
export interface ChunkAssembler {
  /** Takes a payload from a topic; one that is no piece is complete by itself. */
  readonly add: (topic: string, payload: Uint8Array) => Assembled;
  /** The bytes that are kept now. */
  readonly heldBytes: () => number;
  readonly close: () => void;
}

const isPiece = (payload: Uint8Array): boolean =>
  payload.byteLength > mark.byteLength && mark.equals(payload.subarray(0, mark.byteLength));

/** The most bytes that one UTF-16 unit of a text takes in UTF-8. */
const bytesPerUnit = 3;

/**
 * A message as the payloads it travels in: itself, or pieces of at most `chunkBytes` under `id`, which nobody else may
 * use on the same topic; the same message sent again under the same id fills the gaps of the first time. Each piece is made
 * when it is taken, so that a large message is not held twice.
 */
export function* chunksOf(id: string, message: string, chunkBytes: number): Generator<Buffer> {
  const bytes = Buffer.byteLength(message);
  if (bytes <= chunkBytes && !message.startsWith(markText)) {
    yield Buffer.from(message);
    return;
  }
  const units = bytes === message.length ? chunkBytes : Math.max(2, Math.floor(chunkBytes / bytesPerUnit));
  const of = Math.max(1, Math.ceil(message.length / units));
  /** Where a piece begins: never between the two halves of a character. */
  const begin = (n: number): number => n * units - (isHighSurrogate(message.charCodeAt(n * units - 1)) ? 1 : 0);
  for (let n = 0; n < of; n += 1) {
    const line = JSON.stringify({ chunk: id, n, of } satisfies RpcChunk);
    yield Buffer.from(`${line}\n${message.slice(begin(n), n + 1 < of ? begin(n + 1) : message.length)}`);
  }
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd8_00 && unit <= 0xdb_ff;

const parsePiece = (payload: Uint8Array): { readonly line: RpcChunk; readonly bytes: Uint8Array } | undefined => {
  const end = payload.subarray(0, maxLineBytes).indexOf(newline);
  if (end < 0) return undefined;
  try {
    const parsed = RpcChunk.safeParse(JSON.parse(Buffer.from(payload.subarray(0, end)).toString()));
    return parsed.success ? { line: parsed.data, bytes: payload.subarray(end + 1) } : undefined;
  } catch {
    return undefined;
  }
};

interface Assembly {
  readonly of: number;
  readonly pieces: Map<number, Uint8Array>;
  bytes: number;
  /** The cost of keeping it. */
  held: number;
  touchedMs: number;
}

/**
 * Nothing kept yet. When the bounds are reached, what has waited longest for its next piece makes room: whoever sent it
 * comes to its deadline, and a flood of pieces that fit nothing cannot grow.
 */
export const chunkAssembler = (
  limits: ChunkLimits,
  clock: { readonly nowMs: () => number; readonly after: After },
): ChunkAssembler => {
  const { maxMessageBytes, maxBytes, maxCount, maxIdleMs } = limits;
  /** In the order of the last piece. */
  const assemblies = new Map<string, Assembly>();
  let held = 0;
  let stopTimer: (() => void) | undefined;

  const drop = (key: string, assembly: Assembly): void => {
    assemblies.delete(key);
    held -= assembly.held;
  };
  const sweep = (): void => {
    stopTimer = undefined;
    const oldestMs = clock.nowMs() - maxIdleMs;
    for (const [key, assembly] of assemblies) if (assembly.touchedMs <= oldestMs) drop(key, assembly);
    watch();
  };
  const watch = (): void => {
    if (assemblies.size > 0) stopTimer ??= clock.after(maxIdleMs, sweep);
  };
  const makeRoom = (key: string): void => {
    for (const [other, assembly] of assemblies) {
      if (held <= maxBytes && assemblies.size <= maxCount) return;
      if (other !== key) drop(other, assembly);
    }
  };

  const add = (topic: string, payload: Uint8Array): Assembled => {
    if (!isPiece(payload)) return { kind: 'complete', bytes: payload };
    const piece = parsePiece(payload);
    if (piece === undefined) return { kind: 'bad', reason: 'a piece without a good first line' };
    const { chunk, n, of } = piece.line;
    const key = `${topic} ${chunk}`;
    const assembly = assemblies.get(key) ?? { of, pieces: new Map(), bytes: 0, held: key.length * 2, touchedMs: 0 };
    if (assembly.of !== of) return { kind: 'bad', reason: 'pieces that do not agree on their number' };
    const isNew = !assemblies.has(key);
    const size = assembly.pieces.has(n) ? 0 : piece.bytes.byteLength;
    if (assembly.bytes + size > maxMessageBytes || of * pieceOverheadBytes > maxMessageBytes) {
      if (!isNew) drop(key, assembly);
      return { kind: 'bad', reason: `a message of more than ${maxMessageBytes} bytes` };
    }
    if (isNew) held += assembly.held;
    if (!assembly.pieces.has(n)) {
      // A copy: the payload may be a small view of a large buffer of the client.
      assembly.pieces.set(n, new Uint8Array(piece.bytes));
      assembly.bytes += size;
      assembly.held += size + pieceOverheadBytes;
      held += size + pieceOverheadBytes;
    }
    assembly.touchedMs = clock.nowMs();
    assemblies.delete(key);
    assemblies.set(key, assembly);
    if (assembly.pieces.size < of) {
      makeRoom(key);
      watch();
      return { kind: 'partial' };
    }
    drop(key, assembly);
    return { kind: 'complete', bytes: Buffer.concat(Array.from({ length: of }, (_, at) => pieceAt(assembly, at))) };
  };

  return {
    add,
    heldBytes: () => held,
    close: () => {
      stopTimer?.();
      assemblies.clear();
      held = 0;
    },
  };
};

const pieceAt = ({ pieces }: Assembly, n: number): Uint8Array => {
  const piece = pieces.get(n);
  if (piece === undefined) throw new AppError('INTERNAL', `piece ${n} of a complete message is missing`);
  return piece;
};
