import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from './loopback.ts';

/** A way to a port that can be closed: then nothing listens, and what was connected is cut off. */
export interface Gate extends AsyncDisposable {
  readonly url: string;
  readonly open: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Sees the bytes of one connection on their way, each chunk as it passes. */
export interface GateTap {
  readonly inward?: (chunk: Buffer) => void;
  readonly outward?: (chunk: Buffer) => void;
}

/** An open gate to a port on loopback. `tap` is called for each connection. */
export const startGate = async (to: number, tap: () => GateTap = () => ({})): Promise<Gate> => {
  const port = await freePort();
  const sockets = new Set<Socket>();
  let server: Server | null = null;

  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    return socket;
  };
  const open = async (): Promise<void> => {
    const listening = createServer((outer) => {
      const inner = keep(connect({ port: to, host: '127.0.0.1', noDelay: true }));
      keep(outer).setNoDelay(true);
      const { inward, outward } = tap();
      if (inward !== undefined) outer.on('data', inward);
      if (outward !== undefined) inner.on('data', outward);
      outer.pipe(inner).pipe(outer);
      outer.on('close', () => inner.destroy());
      inner.on('close', () => outer.destroy());
    });
    server = listening;
    listening.listen(port, '127.0.0.1');
    await once(listening, 'listening');
  };
  const close = async (): Promise<void> => {
    const closing = server;
    server = null;
    if (closing === null) return;
    const closed = once(closing, 'close');
    closing.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await open();
  return { url: `mqtt://127.0.0.1:${port}`, open, close, [Symbol.asyncDispose]: close };
};
