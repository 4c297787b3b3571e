import { type FileHandle, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { AppError, type Json } from '@infrakit/core';

/** A file of JSON records, one a line, that only grows until it is rewritten. */
export interface AppendLog {
  /**
   * Durable when it resolves. All that wait share one write and one sync, in the order of the calls. `STORE_UNAVAILABLE`
   * when the disk refuses; the record is then not in the log. `applied` is called at the moment it is durable, before
   * anything that was asked for later is done.
   */
  readonly append: (record: Json, applied?: () => unknown) => Promise<void>;
  /**
   * Puts these records in the place of all before, atomically: a crash leaves either the old log or the new one. They are
   * asked for when all that was appended before is durable and applied.
   */
  readonly rewrite: (records: () => readonly Json[]) => Promise<void>;
  /** How many records and bytes are in the file. */
  readonly size: () => { readonly records: number; readonly bytes: number };
  /** Awaits what was appended, then closes the file. */
  readonly close: () => Promise<void>;
}

/** A log with what was in it. `dropped` lines could not be read: a torn one at the end, or damage further up. */
export interface OpenedLog {
  readonly log: AppendLog;
  readonly records: readonly Json[];
  readonly dropped: number;
}

interface Waiting {
  readonly line: string;
  readonly applied: () => unknown;
  readonly resolve: () => void;
  readonly reject: (error: AppError) => void;
}

const checksum = (text: string): string => crc32(text).toString(16).padStart(8, '0');

const lineOf = (record: Json): string => {
  const text = JSON.stringify(record);
  return `${checksum(text)} ${text}\n`;
};

const recordOf = (line: string): Json | undefined => {
  const text = line.slice(9);
  if (line[8] !== ' ' || line.slice(0, 8) !== checksum(text)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
};

const readRecords = async (path: string): Promise<{ records: Json[]; dropped: number; isWhole: boolean }> => {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw new AppError('STORE_UNAVAILABLE', `${path} cannot be read: ${error.message}`, { cause: error });
  });
  const lines = text.split('\n');
  const isWhole = lines.at(-1) === '';
  if (isWhole) lines.pop();
  const records: Json[] = [];
  for (const line of lines) {
    const record = recordOf(line);
    if (record !== undefined) records.push(record);
  }
  return { records, dropped: lines.length - records.length, isWhole };
};

/** Makes the entry of a file in its folder durable. */
const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
};

const writeWhole = async (path: string, records: readonly Json[]): Promise<number> => {
  const fresh = `${path}.new`;
  const text = records.map(lineOf).join('');
  const handle = await open(fresh, 'w', 0o600);
  try {
    await handle.writeFile(text);
    await handle.datasync();
  } finally {
    await handle.close();
  }
  await rename(fresh, path);
  await syncFolder(path);
  return Buffer.byteLength(text);
};

/**
 * Opens the log at `path`, whose folder exists, and reads it. Starts by itself after any crash: unreadable lines are
 * counted, left out, and removed from the file. Errors: `STORE_UNAVAILABLE`.
 */
export const openAppendLog = async (path: string): Promise<OpenedLog> => {
  const unavailable = (error: unknown): AppError =>
    new AppError('STORE_UNAVAILABLE', `${path} cannot be written: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  const { records: read, dropped, isWhole } = await readRecords(path);
  let handle: FileHandle;
  let bytes: number;
  try {
    if (dropped > 0 || !isWhole) await writeWhole(path, read);
    handle = await open(path, 'a', 0o600);
    bytes = (await handle.stat()).size;
    await syncFolder(path);
  } catch (error) {
    throw unavailable(error);
  }

  let count = read.length;
  let waiting: Waiting[] = [];
  let turn: Promise<void> = Promise.resolve();
  let isWriting = false;
  let isClosed = false;

  const writeBatch = async (batch: readonly Waiting[]): Promise<void> => {
    const text = batch.map(({ line }) => line).join('');
    try {
      await handle.writeFile(text);
      await handle.datasync();
      bytes += Buffer.byteLength(text);
      count += batch.length;
    } catch (error) {
      // What was written of the batch is taken back, so that a record that was refused does not come back later.
      await handle.truncate(bytes).catch(() => undefined);
      for (const { reject } of batch) reject(unavailable(error));
      return;
    }
    for (const { applied, resolve } of batch) {
      applied();
      resolve();
    }
  };

  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = turn.then(work);
    turn = next.then(
      () => undefined,
      () => undefined,
    );
    return next;
  };

  const pump = (): void => {
    if (isWriting) return;
    isWriting = true;
    void inTurn(async () => {
      isWriting = false;
      const batch = waiting;
      waiting = [];
      if (batch.length > 0) await writeBatch(batch);
    });
  };

  const log: AppendLog = {
    append: (record, applied = () => undefined) =>
      new Promise((resolve, reject) => {
        if (isClosed) return reject(new AppError('STORE_UNAVAILABLE', `${path} is closed`));
        waiting.push({ line: lineOf(record), applied, resolve, reject });
        pump();
      }),
    rewrite: (records) =>
      inTurn(async () => {
        const fresh = records();
        if (isClosed) throw new AppError('STORE_UNAVAILABLE', `${path} is closed`);
        try {
          bytes = await writeWhole(path, fresh);
          count = fresh.length;
          const old = handle;
          handle = await open(path, 'a', 0o600);
          await old.close();
        } catch (error) {
          throw unavailable(error);
        }
      }),
    size: () => ({ records: count, bytes }),
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      await inTurn(async () => {
        const batch = waiting;
        waiting = [];
        if (batch.length > 0) await writeBatch(batch);
        await handle.close();
      });
    },
  };
  return { log, records: read, dropped };
};
