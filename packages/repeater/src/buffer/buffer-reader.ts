import { type FileHandle, open } from 'node:fs/promises';
import type { BufferFile } from './buffer-files.ts';
import { decodeRecord, type KeptMessage } from './buffer-record.ts';

/** Reads the messages of a buffer from the oldest on. */
export interface BufferReader {
  /** The next one that is durable and wanted; null when there is none now. */
  readonly next: () => Promise<{ readonly message: KeptMessage; readonly bytes: number } | null>;
  readonly close: () => Promise<void>;
}

export interface ReaderDeps {
  readonly files: () => readonly BufferFile[];
  readonly isWanted: (seq: number) => boolean;
  /** The messages of a file from a place on cannot be read. */
  readonly damaged: (file: BufferFile, at: number) => void;
}

const chunkBytes = 256 * 1024;
const nothing = Buffer.alloc(0);

/** A reader at the beginning. */
export const bufferReader = ({ files, isWanted, damaged }: ReaderDeps): BufferReader => {
  let file: BufferFile | null = null;
  let handle: FileHandle | null = null;
  /** What was read and where it begins in the file; `at` is the place in it. */
  let chunk: Buffer = nothing;
  let begin = 0;
  let at = 0;

  const moveOn = async (): Promise<boolean> => {
    const after = file?.number ?? -1;
    const next = files().find(({ number }) => number > after);
    if (next === undefined) return false;
    await handle?.close();
    handle = null;
    file = next;
    [chunk, begin, at] = [nothing, 0, 0];
    return true;
  };

  /** Reads on, `needs` bytes from here at least; false at the end of what is durable. */
  const more = async (from: BufferFile, needs: number): Promise<boolean> => {
    const place = begin + at;
    const length = Math.min(Math.max(needs, chunkBytes), from.bytes - place);
    // A file that holds nothing any more may be gone.
    if (length < needs || !files().includes(from)) return false;
    handle ??= await open(from.path, 'r');
    const fresh = Buffer.allocUnsafe(length);
    const { bytesRead } = await handle.read(fresh, 0, length, place);
    if (bytesRead < needs) return false;
    [chunk, begin, at] = [fresh.subarray(0, bytesRead), place, 0];
    return true;
  };

  const next: BufferReader['next'] = async () => {
    for (;;) {
      if (file === null && !(await moveOn())) return null;
      if (file === null) return null;
      const record = decodeRecord(chunk, at);
      if (record.kind === 'partial') {
        if (await more(file, record.needs)) continue;
        if (await moveOn()) continue;
        return null;
      }
      if (record.kind === 'damaged') {
        damaged(file, begin + at);
        if (await moveOn()) continue;
        return null;
      }
      at += record.bytes;
      if (record.kind === 'message' && isWanted(record.message.seq)) {
        return { message: record.message, bytes: record.bytes };
      }
    }
  };
  return { next, close: async () => handle?.close() };
};
