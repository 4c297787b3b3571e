import { mkdir } from 'node:fs/promises';
import { ClassicLevel } from 'classic-level';

/** A lock that is held. */
export interface HeldLock {
  readonly release: () => Promise<void>;
}

const codeOf = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : undefined;

const isLocked = (error: unknown): boolean =>
  codeOf(error) === 'LEVEL_LOCKED' || (error instanceof Error && error.cause !== undefined && isLocked(error.cause));

/**
 * Takes the lock that the folder stands for, if nobody has it. It is the lock that LevelDB takes on its folder: one of the
 * operating system's, which a killed process gives back at once (GP-D2). Null when another process, or this one, has it.
 */
export const tryLock = async (folder: string): Promise<HeldLock | null> => {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const level = new ClassicLevel(folder, { compression: false });
  try {
    await level.open();
  } catch (error) {
    if (isLocked(error)) return null;
    throw error;
  }
  return { release: () => level.close() };
};
