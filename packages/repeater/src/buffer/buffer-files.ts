import { mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '@infrakit/core';
import type { Log } from '@infrakit/spi';
import { qosOf } from './buffer-frames.ts';
import { type BufferSnapshot, decodeRecord, encodeFact } from './buffer-record.ts';
import { type BufferState, bufferState, emptySnapshot } from './buffer-state.ts';

/** One file of a buffer: a snapshot, then messages and facts in their order. */
export interface BufferFile {
  readonly number: number;
  readonly path: string;
  /** No message before this one is in it. */
  readonly firstSeq: number;
  /** So much of it is durable and whole. */
  bytes: number;
}

/** What was found in a folder. */
export interface FoundFiles {
  /** By age; at least one. The last one is written on. */
  readonly files: readonly BufferFile[];
  readonly state: BufferState;
}

const nameOf = (number: number): string => `${String(number).padStart(12, '0')}.buffer`;

/** `STORE_UNAVAILABLE` for what the disk said. */
export const diskError = (path: string, thrown: unknown): AppError => {
  const why = thrown instanceof Error ? thrown.message : String(thrown);
  return new AppError('STORE_UNAVAILABLE', `${path} cannot be used as a buffer: ${why}`, { cause: thrown });
};

const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** Makes a file that begins with a snapshot; durable when it resolves. */
export const createBufferFile = async (
  folder: string,
  number: number,
  snapshot: BufferSnapshot,
): Promise<BufferFile> => {
  const path = join(folder, nameOf(number));
  const head = encodeFact({ snapshot });
  const handle = await open(path, 'w', 0o600);
  try {
    await handle.writeFile(head);
    await handle.datasync();
  } catch (error) {
    await rm(path, { force: true }).catch(() => undefined);
    throw error;
  } finally {
    await handle.close();
  }
  await syncFolder(folder);
  return { number, path, firstSeq: snapshot.nextSeq, bytes: head.length };
};

const chunkBytes = 1024 * 1024;

/** Reads records from the beginning of a file for as long as `visit` wants more; gives where the last whole one ends. */
const readRecords = async (
  path: string,
  visit: (record: Extract<ReturnType<typeof decodeRecord>, { readonly bytes: number }>) => boolean,
): Promise<{ readonly whole: number; readonly size: number }> => {
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    let buffer: Buffer = Buffer.alloc(0);
    let [at, whole] = [0, 0];
    for (;;) {
      const record = decodeRecord(buffer, at);
      if (record.kind === 'damaged') return { whole, size };
      if (record.kind === 'partial') {
        const rest = buffer.subarray(at);
        const wanted = Math.max(chunkBytes, record.needs - rest.length);
        const chunk = Buffer.alloc(wanted);
        const { bytesRead } = await handle.read(chunk, 0, wanted, whole + rest.length);
        if (bytesRead === 0) return { whole, size };
        buffer = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
        at = 0;
        continue;
      }
      at += record.bytes;
      whole += record.bytes;
      if (!visit(record)) return { whole, size };
    }
  } finally {
    await handle.close();
  }
};

const headOf = async (path: string): Promise<BufferSnapshot | null> => {
  let found: BufferSnapshot | null = null;
  await readRecords(path, (record) => {
    if (record.kind === 'fact' && 'snapshot' in record.fact) found = record.fact.snapshot;
    return false;
  });
  return found;
};

/** Reads the last file, which tells how all messages stand, and takes off what is not whole at its end. */
const replay = async (file: BufferFile, log: Log): Promise<BufferState> => {
  const state = bufferState(emptySnapshot);
  const { whole, size } = await readRecords(file.path, (record) => {
    if (record.kind === 'fact') state.apply(record.fact);
    else {
      const { seq, flags, id } = record.message;
      state.added(seq, record.bytes, qosOf(flags) === 2 ? id : null);
    }
    return true;
  });
  file.bytes = whole;
  if (whole < size) {
    log.warn({ path: file.path, bytes: size - whole }, 'the end of a buffer was not whole and is left out');
    const handle = await open(file.path, 'r+');
    try {
      await handle.truncate(whole);
      await handle.datasync();
    } finally {
      await handle.close();
    }
  }
  return state;
};

/** Opens the files of a buffer in a folder, which is made when it is not there. Errors: `STORE_UNAVAILABLE`. */
export const findBufferFiles = async (folder: string, log: Log): Promise<FoundFiles> => {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const numbers = (await readdir(folder))
      .flatMap((name) => /^(\d{12})\.buffer$/.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((left, right) => left - right);
    const files: BufferFile[] = [];
    for (const number of numbers) {
      const path = join(folder, nameOf(number));
      const head = await headOf(path);
      if (head !== null) {
        const handle = await open(path, 'r');
        const { size } = await handle.stat().finally(() => handle.close());
        files.push({ number, path, firstSeq: head.nextSeq, bytes: size });
        continue;
      }
      // One that was begun last and never became whole has nothing in it.
      log.warn({ path }, 'a file of a buffer cannot be read and is left out');
      if (number === numbers.at(-1)) await rm(path, { force: true });
    }
    const last = files.at(-1);
    if (last !== undefined) return { files, state: await replay(last, log) };
    const first = await createBufferFile(folder, (numbers.at(-1) ?? 0) + 1, emptySnapshot);
    return { files: [first], state: bufferState(emptySnapshot) };
  } catch (error) {
    throw error instanceof AppError ? error : diskError(folder, error);
  }
};
