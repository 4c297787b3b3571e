import { type FileHandle, open, rm } from 'node:fs/promises';
import { AppError } from '@infrakit/core';
import { type BufferFile, createBufferFile, diskError } from './buffer-files.ts';
import type { BufferSnapshot } from './buffer-record.ts';

/** Writes the files of one buffer. */
export interface BufferWriter {
  /**
   * Durable when it resolves; `applied` is called at that moment. All that wait share one write and one sync, in the order
   * of the calls. `STORE_UNAVAILABLE` when the disk refuses: it is then not in the file, and nothing more is taken.
   */
  readonly append: (bytes: Buffer, applied: () => void) => Promise<void>;
  /** How many bytes are not durable so far. */
  readonly pendingBytes: () => number;
  readonly files: () => readonly BufferFile[];
  /** Gives back the disk of a file in which nothing waits any more, if it is worth it. */
  readonly renew: () => Promise<void>;
  /** Removes the files, save the one that is written to, that hold nothing any more: messages from `first` up to `end`. */
  readonly tidy: (isOver: (first: number, end: number) => boolean) => void;
  /** Awaits what was appended. */
  readonly close: () => Promise<void>;
}

interface Waiting {
  readonly bytes: Buffer;
  readonly applied: () => void;
  readonly resolve: () => void;
  readonly reject: (error: AppError) => void;
}

export interface WriterDeps {
  readonly folder: string;
  readonly files: readonly BufferFile[];
  /** A file that is larger is followed by another one. */
  readonly fileBytes: () => number;
  /** Whether no message waits at all. */
  readonly isEmpty: () => boolean;
  /** What a new file begins with. */
  readonly snapshot: () => BufferSnapshot;
  /** The disk refused. */
  readonly failed: (error: AppError) => void;
}

/** A file of so many bytes goes when nothing waits in it. */
const spareBytes = 64 * 1024;
/** The most that is written at once, in bytes. */
const batchBytes = 4 * 1024 * 1024;

/** A writer that goes on in the last file. Nothing is opened before it is needed. */
export const bufferWriter = (deps: WriterDeps): BufferWriter => {
  const { folder, fileBytes, isEmpty, snapshot } = deps;
  let files = [...deps.files];
  let handle: FileHandle | null = null;
  let waiting: Waiting[] = [];
  let pendingBytes = 0;
  let running: Promise<void> | null = null;
  let isClosed = false;

  const current = (): BufferFile => {
    const file = files.at(-1);
    if (file === undefined) throw new AppError('STORE_UNAVAILABLE', `${folder} has no file to write to`);
    return file;
  };

  const isSpare = (): boolean => isEmpty() && current().bytes > spareBytes;

  const write = async (batch: readonly Waiting[]): Promise<void> => {
    const full = current();
    if (full.bytes > fileBytes() || isSpare()) {
      const next = await createBufferFile(folder, full.number + 1, snapshot());
      files = [...files, next];
      await handle?.close();
      handle = null;
    }
    const file = current();
    handle ??= await open(file.path, 'r+');
    const bytes = Buffer.concat(batch.map((one) => one.bytes));
    try {
      for (let at = 0; at < bytes.length; ) {
        at += (await handle.write(bytes, at, bytes.length - at, file.bytes + at)).bytesWritten;
      }
      await handle.datasync();
    } catch (error) {
      // What was written is taken back, so that nothing that was refused is there after a restart.
      await handle.truncate(file.bytes).catch(() => undefined);
      throw error;
    }
    file.bytes += bytes.length;
  };

  const take = (): Waiting[] => {
    let size = 0;
    const count = waiting.findIndex(({ bytes }) => {
      size += bytes.length;
      return size > batchBytes;
    });
    const batch = count === -1 ? waiting : waiting.slice(0, Math.max(1, count));
    waiting = waiting.slice(batch.length);
    return batch;
  };

  const run = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = take();
      try {
        await write(batch);
      } catch (thrown) {
        const error = diskError(folder, thrown);
        isClosed = true;
        for (const { reject } of [...batch, ...waiting]) reject(error);
        waiting = [];
        deps.failed(error);
        break;
      }
      for (const { bytes, applied, resolve } of batch) {
        pendingBytes -= bytes.length;
        applied();
        resolve();
      }
    }
    running = null;
  };

  const append: BufferWriter['append'] = (bytes, applied) =>
    new Promise((resolve, reject) => {
      if (isClosed) return reject(new AppError('STORE_UNAVAILABLE', `${folder} is closed`));
      waiting.push({ bytes, applied, resolve, reject });
      pendingBytes += bytes.length;
      // In a turn of its own, so that what is appended together is written together.
      running ??= Promise.resolve().then(run);
    });

  return {
    append,
    pendingBytes: () => pendingBytes,
    renew: async () => {
      if (isSpare()) await append(Buffer.alloc(0), () => undefined);
    },
    files: () => files,
    tidy: (isOver) => {
      const last = files.length - 1;
      const kept = files.filter((file, at) => {
        const next = files[at + 1];
        if (at === last || next === undefined || !isOver(file.firstSeq, next.firstSeq)) return true;
        // One that stays is found again at the next start and goes then.
        rm(file.path, { force: true }).catch(() => undefined);
        return false;
      });
      if (kept.length < files.length) files = kept;
    },
    close: async () => {
      isClosed = true;
      await running;
      await handle?.close();
      handle = null;
    },
  };
};
