import { createServer, type Socket } from 'node:net';
import { closeServer, listenOnLoopback } from './loopback.ts';

/** A server that accepts and never answers. */
export interface BlackHole extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** How many connections it has accepted. */
  readonly accepted: () => number;
}

/** Starts one on a free port of loopback. */
export const startBlackHole = async (): Promise<BlackHole> => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.on('error', () => socket.destroy())));
  const port = await listenOnLoopback(server);
  return {
    port,
    url: `mqtt://127.0.0.1:${port}`,
    accepted: () => sockets.length,
    [Symbol.asyncDispose]: () => {
      for (const socket of sockets) socket.destroy();
      return closeServer(server);
    },
  };
};
