import { constants, type FileHandle, open, stat } from 'node:fs/promises';
import type { Clock } from '@infrakit/runtime';
import { lineSplitter } from './line-splitter.ts';

/** Follows one file. */
export interface FileFollower {
  /** Resolves when it was looked for once: lines that are written from then on are followed. */
  readonly begun: Promise<void>;
  readonly stop: () => Promise<void>;
}

/** What a follower tells. */
export interface FollowerEvents {
  readonly line: (line: string) => void;
  /** The file is not there yet, appeared, was replaced, cut, or went away. */
  readonly change: (what: 'absent' | 'appeared' | 'rotated' | 'truncated' | 'vanished') => void;
  /** Why what is there cannot be followed; the same reason once. */
  readonly trouble: (why: string) => void;
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

/** Nothing has this name at the moment. */
const isAbsent = (error: unknown): boolean => error instanceof Error && Reflect.get(error, 'code') === 'ENOENT';

const identify = async (path: string): Promise<{ inode: bigint; device: bigint } | null> => {
  try {
    const { ino, dev } = await stat(path, { bigint: true });
    return { inode: ino, device: dev };
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
};

/** Says a reason when it is another one than last time. */
export const tellOnce = (tell: (why: string) => void): ((why: string) => void) => {
  let told = '';
  return (why) => {
    if (why !== told && why !== '') tell(why);
    told = why;
  };
};

/**
 * Follows the lines of a file by looking at it again and again: that also works where notifications do not. A file that is
 * there at the start is followed from its end, one that appears later from its beginning. A moved file is read to its end
 * before the new one is, and what it ends with is a line; a file that became shorter is read from its beginning. Never fails:
 * what is not there may come, and one that could not be read for a while is read on where it was left.
 */
export const followFile = (options: FollowOptions, clock: Clock, events: FollowerEvents): FileFollower => {
  const { path, isReopened, everyMs } = options;
  const splitter = lineSplitter();
  const buffer = Buffer.alloc(chunkBytes);
  const trouble = tellOnce(events.trouble);
  let file: OpenFile | null = null;
  /** The file that was read last, and how far. */
  let last: Omit<OpenFile, 'handle'> | null = null;
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
    await old?.handle.close();
  };

  /** Opens the file if it is there and can be followed. */
  const openAt = async (from: 'beginning' | 'end'): Promise<OpenFile | null> => {
    const found = await stat(path).catch((error: unknown) => {
      if (isAbsent(error)) return null;
      throw error;
    });
    if (found === null) {
      if (isFirst) events.change('absent');
      return null;
    }
    // Opening a pipe would wait for somebody who writes.
    if (!found.isFile()) {
      trouble(found.isFIFO() ? 'it is a named pipe, and Pipe is not set' : 'it is no file');
      return null;
    }
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const { ino: inode, dev: device, size } = await handle.stat({ bigint: true });
    if (last === null || last.inode !== inode || last.device !== device) {
      splitter.reset();
      place = from === 'end' ? Number(size) : 0;
    }
    file = { handle, inode, device };
    last = { inode, device };
    return file;
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

  /** Reads what came last, and leaves a file that has another name or none. */
  const finish = async (followed: OpenFile): Promise<void> => {
    await readOn(followed);
    if (isStopped) return;
    for (const line of splitter.end()) events.line(line);
    last = null;
    await close();
  };

  const look = async (): Promise<void> => {
    const followed = file;
    if (followed === null) {
      const opened = await openAt(isFirst ? 'end' : 'beginning');
      if (opened === null) return;
      trouble('');
      if (!isFirst) events.change('appeared');
      await readOn(opened);
      return;
    }
    await readOn(followed);
    trouble('');
    const now = await identify(path);
    if (now?.inode === followed.inode && now.device === followed.device) {
      isMoved = false;
      return;
    }
    if (now === null) {
      if (!isMoved) events.change('vanished');
      // Whoever writes may go on in the moved file until there is a new one.
      isMoved = (await followed.handle.stat()).nlink > 0;
      if (!isMoved) await finish(followed);
      return;
    }
    if (!isReopened && !isMoved) return;
    await finish(followed);
    if (isStopped) return;
    events.change(isMoved ? 'appeared' : 'rotated');
    isMoved = false;
    if ((await openAt('beginning')) !== null) await look();
  };

  const run = (): Promise<void> => {
    turn = look()
      .catch(async (error: unknown) => {
        trouble(error instanceof Error ? error.message : String(error));
        await close().catch(() => undefined);
      })
      .then(() => {
        isFirst = false;
        if (!isStopped) cancel = clock.after(everyMs, () => void run());
      });
    return turn;
  };
  return {
    begun: run(),
    stop: async () => {
      isStopped = true;
      cancel();
      await turn;
      await close();
    },
  };
};
