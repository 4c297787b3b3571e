import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { dirname } from 'node:path';
import { AppError } from '@infrakit/core';
import type { FastifyInstance } from 'fastify';

/** An address of TCP to listen on. */
export interface TcpPlace {
  readonly host: string;
  readonly port: number;
}

/** Where an application of one name is found (GP §6.3): by its socket, or by a file that says `tcp://host:port`. */
export interface ListenFiles {
  readonly socket: string;
  readonly record: string;
}

/** A listening application. */
export interface Listening {
  /** `unix:/path` or `http://host:port`. */
  readonly address: string;
  readonly close: () => Promise<void>;
}

/** `host:port`, or `:port` for loopback; null for what is neither. */
export const parseListen = (text: string): TcpPlace | null => {
  const match = /^(?:tcp:\/\/)?(?:\[([^\]]+)\]|([^:[\]/]*)):(\d{1,5})$/.exec(text.trim());
  const port = Number(match?.[3]);
  if (match === null || !(port <= 65_535)) return null;
  return { host: match[1] ?? (match[2] || '127.0.0.1'), port };
};

/** Where the application of these files listens, as its record says; undefined when it has a socket, or there is none. */
export const recordedPlace = async ({ record }: ListenFiles): Promise<TcpPlace | undefined> => {
  const text = await readFile(record, 'utf8').catch(() => '');
  return parseListen(text) ?? undefined;
};

/** Whether only this machine reaches it. */
export const isLoopbackHost = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

/** Removes what a process of this name left behind when it died. Whoever calls has made sure that none lives. */
export const clearFiles = async ({ socket, record }: ListenFiles): Promise<void> => {
  await mkdir(dirname(record), { recursive: true, mode: 0o700 });
  await Promise.all([rm(socket, { force: true }), rm(record, { force: true })]);
};

const urlOf = ({ host, port }: TcpPlace): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;

const whereOf = (place: { readonly path: string } | TcpPlace): string => ('path' in place ? place.path : urlOf(place));

/**
 * Listens, on a socket for its owner only when no place of TCP is given. Errors: `PLUGIN_CLAIMED` when somebody listens there
 * already, `ARGUMENT_INVALID`.
 */
export const listenAt = async (
  app: FastifyInstance,
  files: ListenFiles,
  tcp: TcpPlace | undefined,
): Promise<Listening> => {
  const place = tcp ?? { path: files.socket };
  try {
    await app.listen(place);
    const bound = app.server.address();
    if (tcp === undefined || typeof bound !== 'object' || bound === null) {
      await chmod(files.socket, 0o600);
      return { address: `unix:${files.socket}`, close: () => app.close() };
    }
    const found = { host: tcp.host, port: bound.port };
    await writeFile(files.record, `tcp://${urlOf(found)}\n`, { mode: 0o600 });
    return {
      address: `http://${urlOf(found)}`,
      close: async () => {
        await rm(files.record, { force: true });
        await app.close();
      },
    };
  } catch (cause) {
    await app.close();
    const where = whereOf(place);
    const code = cause instanceof Error ? Reflect.get(cause, 'code') : undefined;
    if (code === 'EADDRINUSE') throw new AppError('PLUGIN_CLAIMED', `somebody listens on ${where} already`, { cause });
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new AppError('ARGUMENT_INVALID', `cannot listen on ${where}: ${why}`, { cause });
  }
};
