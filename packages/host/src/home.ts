import { constants } from 'node:fs';
import { access, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError, encodeLevel } from '@infrakit/core';

/** The folders of a home (DESIGN §3, §5). */
export interface Home {
  readonly path: string;
  /** Locks of the operating system, and who leads. */
  readonly locks: string;
  readonly journals: string;
  /** What is committed. */
  readonly configs: string;
  /** What the embedded broker retains. */
  readonly broker: string;
  /** The state of one plugin, by its kind and name. */
  readonly stateOf: (kind: string, name: string) => string;
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'it is not writable',
  EPERM: 'it is not writable',
  EROFS: 'it is on a read-only file system',
  ENOTDIR: 'a part of its path is a file',
  EEXIST: 'it is a file',
  ENOENT: 'no folder can be made there',
  ENOSPC: 'the disk is full',
};

const unusable = (path: string, cause: unknown): AppError => {
  const code = cause instanceof Error ? String(Reflect.get(cause, 'code')) : '';
  const why = reasons[code] ?? (cause instanceof Error ? cause.message : String(cause));
  return new AppError('HOME_INVALID', `${path} cannot be the home: ${why}; set INFRAKIT_HOME to a folder of yours`, {
    facts: { path },
    cause,
  });
};

/** As much as the first files of a home need. */
const probeBytes = 64 * 1024;

/** Writes and removes a file: a full disk is told at once, and not by whichever part of the host first needs it. */
const demandSpace = async (path: string): Promise<void> => {
  const probe = join(path, `.probe-${process.pid}`);
  try {
    await writeFile(probe, Buffer.alloc(probeBytes), { mode: 0o600 });
  } finally {
    await rm(probe, { force: true });
  }
};

/** Makes a folder and those above it. Node's own way never ends where the system says that there is no such place (`/proc/x`). */
const makeFolder = async (path: string): Promise<void> => {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    const code = error instanceof Error ? Reflect.get(error, 'code') : undefined;
    if (code === 'EEXIST') return;
    const above = dirname(path);
    if (code !== 'ENOENT' || above === path) throw error;
    await makeFolder(above);
    await mkdir(path, { mode: 0o700 }).catch((again: unknown) => {
      if (!(again instanceof Error) || Reflect.get(again, 'code') !== 'EEXIST') throw again;
    });
  }
};

/** Makes the home, readable by its owner only, if it is not there. Errors: `HOME_INVALID`. */
export const openHome = async (path: string): Promise<Home> => {
  try {
    await makeFolder(path);
    await access(path, constants.W_OK | constants.X_OK);
    if (!(await stat(path)).isDirectory()) throw Object.assign(new Error('no folder'), { code: 'EEXIST' });
    await demandSpace(path);
  } catch (error) {
    throw unusable(path, error);
  }
  return {
    path,
    locks: join(path, 'lock'),
    journals: join(path, 'journal'),
    configs: join(path, 'configs'),
    broker: join(path, 'broker'),
    stateOf: (kind, name) => join(path, encodeLevel(kind), encodeLevel(name)),
  };
};
