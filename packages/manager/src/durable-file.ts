import { open, readFile, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AppError, type Json } from '@infrakit/core';
import writeFileAtomic from 'write-file-atomic';

const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
};

const failed = (what: string, path: string, error: unknown): AppError =>
  new AppError('STORE_UNAVAILABLE', `${path} cannot be ${what}: ${error instanceof Error ? error.message : error}`, {
    cause: error,
  });

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** Puts JSON in the place of a whole file, atomically and durably (GP-M4). `STORE_UNAVAILABLE` when the disk refuses. */
export const writeDurable = async (path: string, value: Json): Promise<void> => {
  try {
    await writeFileAtomic(path, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, fsync: true });
    await syncFolder(path);
  } catch (error) {
    throw failed('written', path, error);
  }
};

/** The JSON of a file; undefined when there is none. `STORE_CORRUPT` names a file that holds something else. */
export const readDurable = async (path: string): Promise<Json | undefined> => {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw failed('read', path, error);
  }
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new AppError('STORE_CORRUPT', `${path} is not JSON: move it away, or put it right`, { cause: error });
  }
};

/** Removes a file durably; one that is not there is no error. */
export const removeDurable = async (path: string): Promise<void> => {
  try {
    await unlink(path);
    await syncFolder(path);
  } catch (error) {
    if (!isMissing(error)) throw failed('removed', path, error);
  }
};
