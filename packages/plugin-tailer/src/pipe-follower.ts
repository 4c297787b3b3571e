import { close, constants, open as openFile } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { promisify } from 'node:util';
import type { Clock } from '@infrakit/runtime';
import { type FileFollower, type FollowerEvents, type FollowOptions, tellOnce } from './file-follower.ts';
import { lineSplitter } from './line-splitter.ts';

const open = promisify(openFile);
/** Opened for writing too, so that it neither waits for somebody who writes nor ends with the last one. */
const flags = constants.O_RDWR | constants.O_NONBLOCK;

interface OpenPipe {
  readonly socket: Socket;
  readonly inode: bigint;
}

/** What is at a path: the inode of a named pipe, something else, or nothing. */
const pipeAt = async (path: string): Promise<bigint | 'no pipe' | null> => {
  try {
    const found = await stat(path, { bigint: true });
    return found.isFIFO() ? found.ino : 'no pipe';
  } catch (error) {
    if (error instanceof Error && Reflect.get(error, 'code') === 'ENOENT') return null;
    throw error;
  }
};

/**
 * Follows the lines that are written to a named pipe, whoever writes. It is looked for from time to time until it is there, and
 * again when another one takes its place. Never fails: what is not there may come.
 */
export const followPipe = (
  { path, everyMs }: Pick<FollowOptions, 'path' | 'everyMs'>,
  clock: Clock,
  events: FollowerEvents,
): FileFollower => {
  const splitter = lineSplitter();
  const trouble = tellOnce(events.trouble);
  let isFirst = true;
  let pipe: OpenPipe | null = null;
  let isStopped = false;
  let cancel = (): void => undefined;
  let turn: Promise<void> = Promise.resolve();

  const leave = (): void => {
    pipe?.socket.destroy();
    pipe = null;
    splitter.reset();
  };

  const look = async (): Promise<void> => {
    const inode = await pipeAt(path);
    if (pipe !== null && (pipe.inode !== inode || pipe.socket.destroyed)) {
      leave();
      events.change(inode === null ? 'vanished' : 'rotated');
    }
    if (inode === null && isFirst) events.change('absent');
    trouble(inode === 'no pipe' ? 'it is no named pipe, and Pipe is set' : '');
    if (pipe !== null || inode === null || inode === 'no pipe') return;
    const fd = await open(path, flags);
    if (isStopped) {
      close(fd);
      return;
    }
    const socket = new Socket({ fd, readable: true, writable: false });
    // What goes wrong shows as its end, at the next look.
    socket.on('error', () => undefined);
    socket.on('data', (bytes: Buffer) => {
      for (const line of splitter.push(bytes)) events.line(line);
    });
    pipe = { socket, inode };
  };

  const run = (): Promise<void> => {
    turn = look()
      .catch((error: unknown) => {
        trouble(error instanceof Error ? error.message : String(error));
        leave();
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
      leave();
    },
  };
};
