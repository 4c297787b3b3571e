import { createHash } from 'node:crypto';
import { lstat, unlink } from 'node:fs/promises';
import { connect, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '@infrakit/core';

/** What `sun_path` surely holds on every system, the closing NUL left out. */
const maxPathBytes = 100;

/**
 * The path to listen on instead of a wanted one: itself up to 100 bytes, beyond that a short one in the temporary folder,
 * always the same for one wanted path and one user. Who looks for the socket finds it in `broker.json` (DESIGN §3).
 */
export const shortSocketPath = (wanted: string, folder: string = tmpdir()): string => {
  if (Buffer.byteLength(wanted) <= maxPathBytes) return wanted;
  const hash = createHash('sha256').update(wanted).digest('hex').slice(0, 16);
  const name = `infrakit-${process.getuid?.() ?? 0}-${hash}.sock`;
  const short = join(folder, name);
  return Buffer.byteLength(short) <= maxPathBytes ? short : join('/tmp', name);
};

const isLive = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path);
    const settle = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.on('connect', () => settle(true));
    // A full backlog (EAGAIN) is a sign of life too; only a refusal proves that nobody listens.
    socket.on('error', (error) => settle(Reflect.get(error, 'code') !== 'ECONNREFUSED'));
  });

const inUse = (path: string): AppError =>
  new AppError('BUS_UNAVAILABLE', `another broker listens on ${path}: join it, or set another INFRAKIT_HOME`, {
    facts: { path },
  });

/** Removes the socket file of a broker that died (GP §4.1, D-3). Errors: `BUS_UNAVAILABLE` (alive), `BROKER_INVALID` (not a socket). */
const removeStale = async (path: string): Promise<void> => {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return;
  if (!found.isSocket()) {
    throw new AppError('BROKER_INVALID', `${path} is not a socket: move it away`, { facts: { path } });
  }
  if (await isLive(path)) throw inUse(path);
  await unlink(path);
};

/** Listens; resolves when the server does, rejects with the system's error. */
export const listening = (server: Server, listen: () => void): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.once('listening', () => {
      server.off('error', reject);
      resolve();
    });
    listen();
  });

/**
 * Listens on a UNIX socket of mode 0600, in place of a dead one. Errors: `BUS_UNAVAILABLE` when another broker is alive
 * there, `BROKER_INVALID` when the path cannot be used.
 */
export const listenOnSocket = async (server: Server, path: string): Promise<void> => {
  // Beyond its size the system cuts the path off without a word, and the socket is somewhere else.
  if (Buffer.byteLength(path) > maxPathBytes) {
    throw new AppError('BROKER_INVALID', `${path} is too long for a socket: ${maxPathBytes} bytes at most`, {
      facts: { path },
    });
  }
  await removeStale(path);
  try {
    await listening(server, () => {
      // The socket is made within this call: at no time may others connect to it.
      const before = process.umask(0o177);
      try {
        server.listen(path);
      } finally {
        process.umask(before);
      }
    });
  } catch (cause) {
    if (cause instanceof Error && Reflect.get(cause, 'code') === 'EADDRINUSE') throw inUse(path);
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new AppError('BROKER_INVALID', `the broker cannot listen on ${path}: ${why}`, { facts: { path }, cause });
  }
};
