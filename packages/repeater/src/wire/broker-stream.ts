import { connect as connectTcp, isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { AppError, type BrokerAddress } from '@infrakit/core';
import { createWebSocketStream, WebSocket } from 'ws';

/** TLS material itself, PEM; `insecure` takes any certificate. */
export interface TlsMaterial {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
  readonly insecure?: boolean;
}

/** The largest frame of a WebSocket, which is put together before anybody sees it: room for a few packets of the usual limit. */
const maxWebSocketBytes = 48 * 1024 * 1024;

const overWebSocket = (url: string, { insecure, ...tls }: TlsMaterial): Duplex => {
  const socket = new WebSocket(url, 'mqtt', {
    ...tls,
    rejectUnauthorized: insecure !== true,
    maxPayload: maxWebSocketBytes,
    // A few bytes could be as many as a frame may have.
    perMessageDeflate: false,
  });
  const stream = createWebSocketStream(socket);
  // It would go on reading for half a minute, in the hope of an orderly goodbye.
  socket.on('error', () => socket.terminate());
  return stream;
};

/** A stream to a broker that has begun to connect; small packets are sent at once (no Nagle). */
const begin = (address: BrokerAddress, tls: TlsMaterial): Duplex => {
  switch (address.kind) {
    case 'unix':
      return connectTcp({ path: address.path });
    case 'tcp':
      return connectTcp({ host: address.host, port: address.port, noDelay: true });
    case 'tls': {
      const { insecure, ...material } = tls;
      const name = isIP(address.host) === 0 ? { servername: address.host } : {};
      const { host, port } = address;
      return connectTls({ host, port, ...material, ...name, rejectUnauthorized: insecure !== true }).setNoDelay(true);
    }
    case 'ws':
    case 'wss':
      return overWebSocket(address.url, tls);
    default:
      return address satisfies never;
  }
};

/**
 * Opens a stream to a broker. It may be written to at once; that the broker is not reachable shows as its `error`. A broken
 * TLS file is `BUS_URL_INVALID`.
 */
export const brokerStream = (address: BrokerAddress, tls: TlsMaterial): Duplex => {
  try {
    return begin(address, tls);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new AppError('BUS_URL_INVALID', `TLS cannot be set up: ${why}`, { cause });
  }
};
