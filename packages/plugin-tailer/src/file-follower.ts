import { type FileHandle, open, stat } from 'node:fs/promises';
import type { Clock } from '@infrakit/runtime';
import { lineSplitter } from './line-splitter.ts';

/** Follows one file. */
export interface FileFollower {
  readonly stop: () => Promise<void>;
}

/** What a follower tells. */
export interface FollowerEvents {
  readonly line: (line: string) => void;
  /** The file appeared, was replaced, cut, or went away. */
  readonly change: (what: 'appeared' | 'rotated' | 'truncated' | 'vanished') => void;
}

/** How a file is followed. */
export interface FollowOptions {
  readonly path: string;
  /** Whether another file of that name is followed when this one is moved away. */
  readonly isReopened: boolean;
  /** How often the file is looked at, in ms. */
  readonly everyMs: number;
}

interface OpenFile {
  readonly handle: FileHandle;
  readonly inode: bigint;
  readonly device: bigint;
}

const chunkBytes = 64 * 1024;

const identify = async (path: string): Promise<{ inode: bigint; device: bigint } | null> => {
  try {
    const { ino, dev } = await stat(path, { bigint: true });
    return { inode: ino, device: dev };
  } catch {
    return null;
  }
};

/**
 * Follows the lines of a file by looking at it again and again: that also works where notifications do not. A file that is
 * there at the start is followed from its end, one that appears later from its beginning. A moved file is read to its end
 * before the new one is; a file that became shorter is read from its beginning. Never fails: what is not there may come.
 */
export const followFile = (options: FollowOptions, clock: Clock, events: FollowerEvents): FileFollower => {
  const { path, isReopened, everyMs } = options;
  const splitter = lineSplitter();
  const buffer = Buffer.alloc(chunkBytes);
  let file: OpenFile | null = null;
  let place = 0;
  let isFirst = true;
  /** The open file goes by another name, and none has its old one. */
  let isMoved = false;
  let isStopped = false;
  let cancel = (): void => undefined;
  let turn: Promise<void> = Promise.resolve();

  const close = async (): Promise<void> => {
    const old = file;
    file = null;
    splitter.reset();
    await old?.handle.close();
  };

  const openAt = async (from: 'beginning' | 'end'): Promise<boolean> => {
    try {
      // Opening a pipe would wait for somebody who writes.
      if (!(await stat(path)).isFile()) return false;
      const handle = await open(path, 'r');
      const { ino, dev, size } = await handle.stat({ bigint: true });
      file = { handle, inode: ino, device: dev };
      place = from === 'end' ? Number(size) : 0;
      return true;
    } catch {
      return false;
    }
  };

  const readOn = async ({ handle }: OpenFile): Promise<void> => {
    const { size } = await handle.stat();
    if (size < place) {
      events.change('truncated');
      splitter.reset();
      place = 0;
    }
    while (!isStopped) {
      const { bytesRead } = await handle.read(buffer, 0, chunkBytes, place);
      if (bytesRead === 0) return;
      place += bytesRead;
      for (const line of splitter.push(buffer.subarray(0, bytesRead))) events.line(line);
    }
  };

  const look = async (): Promise<void> => {
    if (file !== null) {
      const followed = file;
      await readOn(followed);
      const now = await identify(path);
      if (now?.inode === followed.inode && now.device === followed.device) {
        isMoved = false;
        return;
      }
      if (now === null) {
        if (!isMoved) events.change('vanished');
        // Whoever writes may go on in the moved file until there is a new one.
        isMoved = (await followed.handle.stat()).nlink > 0;
        if (!isMoved) await close();
        return;
      }
      if (!isReopened && !isMoved) return;
      await readOn(followed);
      await close();
      events.change(isMoved ? 'appeared' : 'rotated');
      isMoved = false;
      if (await openAt('beginning')) await look();
      return;
    }
    const isThere = await openAt(isFirst ? 'end' : 'beginning');
    if (isThere && !isFirst) events.change('appeared');
    isFirst = false;
    if (isThere && file !== null) await readOn(file);
  };

  const run = (): void => {
    turn = look()
      .catch(async () => close())
      .then(() => {
        if (!isStopped) cancel = clock.after(everyMs, run);
      });
  };
  run();
  return {
    stop: async () => {
      isStopped = true;
      cancel();
      await turn;
      await close();
    },
  };
};
