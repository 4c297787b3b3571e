import { createServer, isIPv4, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { AppError } from '@infrakit/core';
import { listening } from './broker-socket.ts';

/** Certificate and key of the broker, PEM. */
export interface BrokerTls {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
}

/** Where to listen; port 0 picks a free one. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Whether only this machine can reach an address. A name other than `localhost` may be anything: it counts as beyond. */
export const isLoopback = (host: string): boolean => {
  const address = host.replace(/^::ffff:(?=\d)/i, '');
  return host === 'localhost' || host === '::1' || (isIPv4(address) && address.startsWith('127.'));
};

/**
 * Refuses to listen beyond loopback without both TLS and users (DESIGN §3). Errors: `BROKER_INVALID`, saying what to set.
 */
export const checkListen = ({ host }: ListenAddress, has: { readonly tls: boolean; readonly users: boolean }): void => {
  if (isLoopback(host) || (has.tls && has.users)) return;
  const missing = [
    ...(has.tls ? [] : ['INFRAKIT_TLS_CERT and INFRAKIT_TLS_KEY']),
    ...(has.users ? [] : ['INFRAKIT_BROKER_USERS']),
  ].join(' and ');
  throw new AppError(
    'BROKER_INVALID',
    `the embedded broker listens beyond loopback (${host}) only with TLS and users: set ${missing}, or INFRAKIT_LISTEN=127.0.0.1:1883`,
    { facts: { host } },
  );
};

/** A server for MQTT over TCP, or TLS when there is a certificate; both give `onSocket` a socket to read and write. */
export const tcpServer = (
  tls: BrokerTls | undefined,
  options: {
    readonly onSocket: (socket: Socket) => void;
    /** Each connection at once, before any handshake; false closes it. */
    readonly mayConnect: (socket: Socket) => boolean;
    readonly onTlsError: (error: Error) => void;
    readonly handshakeTimeoutMs: number;
  },
): Server => {
  const sockets = { noDelay: true, keepAlive: true };
  if (tls === undefined) {
    return createServer(sockets, (socket) => {
      if (options.mayConnect(socket)) options.onSocket(socket);
      else socket.destroy();
    });
  }
  try {
    const server = createTlsServer({
      ...sockets,
      cert: tls.cert,
      key: tls.key,
      handshakeTimeout: options.handshakeTimeoutMs,
    });
    server.on('connection', (socket: Socket) => {
      if (!options.mayConnect(socket)) socket.destroy();
    });
    server.on('secureConnection', options.onSocket);
    server.on('tlsClientError', options.onTlsError);
    return server;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new AppError('BROKER_INVALID', `INFRAKIT_TLS_CERT and INFRAKIT_TLS_KEY do not make a TLS server: ${why}`, {
      cause,
    });
  }
};

const listenError = ({ host, port }: ListenAddress, cause: unknown): AppError => {
  const code = cause instanceof Error ? Reflect.get(cause, 'code') : undefined;
  const facts = { host, port };
  if (code === 'EADDRINUSE') {
    return new AppError(
      'BUS_UNAVAILABLE',
      `${host}:${port} is taken: set INFRAKIT_BROKER=mqtt://${host}:${port} to use the broker there, or INFRAKIT_LISTEN=127.0.0.1:0 for a free port`,
      { facts, cause },
    );
  }
  const why = cause instanceof Error ? cause.message : String(cause);
  return new AppError('BROKER_INVALID', `INFRAKIT_LISTEN: the broker cannot listen on ${host}:${port}: ${why}`, {
    facts,
    cause,
  });
};

/** Listens; the port that it got. Errors: `BUS_UNAVAILABLE` for a taken port, `BROKER_INVALID` for an impossible address. */
export const listenOnTcp = async (server: Server, address: ListenAddress): Promise<number> => {
  try {
    await listening(server, () => server.listen(address.port, address.host));
  } catch (cause) {
    throw listenError(address, cause);
  }
  const bound = server.address();
  return bound !== null && typeof bound === 'object' ? bound.port : address.port;
};
