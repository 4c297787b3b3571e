import { connect, createServer, type Socket } from 'node:net';
import { closeServer, listenOnLoopback } from './loopback.ts';

/** A way to a server that a test can disturb. */
export interface Network extends AsyncDisposable {
  readonly port: number;
  /** From now on nothing gets through in either direction, and no connection ends. */
  readonly freeze: () => void;
  readonly thaw: () => void;
  /** Cuts all connections that are there. */
  readonly cut: () => void;
}

/** Listens on a port of its own on loopback and passes everything on to the target: a port there, or the path of a socket. */
export const startNetwork = async (target: () => number | string): Promise<Network> => {
  const pairs = new Set<readonly [Socket, Socket]>();
  let isFrozen = false;
  const server = createServer({ noDelay: true }, (near) => {
    const to = target();
    const far = connect(typeof to === 'string' ? { path: to } : { port: to, host: '127.0.0.1', noDelay: true });
    const pair = [near, far] as const;
    pairs.add(pair);
    const end = (): void => {
      pairs.delete(pair);
      for (const socket of pair) socket.destroy();
    };
    for (const socket of pair) socket.on('error', end).on('close', end);
    near.on('data', (data) => far.write(data));
    far.on('data', (data) => near.write(data));
    if (isFrozen) for (const socket of pair) socket.pause();
  });
  const each = (act: (socket: Socket) => void): void => {
    for (const pair of [...pairs]) for (const socket of pair) act(socket);
  };
  const port = await listenOnLoopback(server);
  return {
    port,
    freeze: () => {
      isFrozen = true;
      each((socket) => socket.pause());
    },
    thaw: () => {
      isFrozen = false;
      each((socket) => socket.resume());
    },
    cut: () => each((socket) => socket.destroy()),
    [Symbol.asyncDispose]: () => {
      each((socket) => socket.destroy());
      return closeServer(server);
    },
  };
};
