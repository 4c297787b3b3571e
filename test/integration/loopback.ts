import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Listens on a port of loopback, a free one unless given; answers which. */
export const listenOnLoopback = async (server: Server, port = 0): Promise<number> => {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
};

/** Closes a server whose connections are ended by whoever made them. */
export const closeServer = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
  });

/** A port of loopback that nobody listens on at the moment. */
export const freePort = async (): Promise<number> => {
  const server = createServer();
  const port = await listenOnLoopback(server);
  await closeServer(server);
  return port;
};
