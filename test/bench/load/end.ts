import { connect, createServer, type Socket } from 'node:net';
import { listenOnLoopback } from '../../integration/loopback.ts';
import { connectPacket, type OnPacket, packetCutter, subscribePacket } from './frames.ts';

/** Where an end of the load is: at a broker, by its port or UNIX socket, or we play the broker and wait to be connected to. */
export type LoadEnd = { readonly kind: 'client'; readonly at: number | string } | { readonly kind: 'broker' };

/** An end that is open. */
export interface OpenEnd {
  /** Of the broker that we play; 0 otherwise. */
  readonly port: number;
  /** Sets who is told of packets, and of the end of each chunk. */
  readonly follow: (onPacket: OnPacket, onChunkEnd: () => void) => void;
  /** Resolves when packets may be sent. */
  readonly ready: Promise<Socket>;
  readonly close: () => void;
}

const listener = () => {
  let handlers: { readonly onPacket: OnPacket; readonly onChunkEnd: () => void } | null = null;
  return {
    follow: (onPacket: OnPacket, onChunkEnd: () => void): void => {
      handlers = { onPacket, onChunkEnd };
    },
    listen: (socket: Socket, first: OnPacket): void => {
      const cut = packetCutter((type, packet, body) => {
        first(type, packet, body);
        handlers?.onPacket(type, packet, body);
      });
      socket.setNoDelay(true).on('data', (chunk: Buffer) => {
        cut(chunk);
        handlers?.onChunkEnd();
      });
      socket.on('error', () => undefined);
    },
  };
};

const atBroker = (at: number | string, filter: string | null, qos: number): OpenEnd => {
  const socket = typeof at === 'number' ? connect(at, '127.0.0.1') : connect(at);
  const { follow, listen } = listener();
  const ready = new Promise<Socket>((resolve) => {
    listen(socket, (type) => {
      if (type === 2 && filter !== null) socket.write(subscribePacket(filter, qos));
      if (type === (filter === null ? 2 : 9)) resolve(socket);
    });
  });
  socket.write(connectPacket(`load-${filter === null ? 'source' : 'sink'}`));
  return { port: 0, follow, ready, close: () => void socket.destroy() };
};

const countFilters = (packet: Buffer, from: number): number => {
  let count = 0;
  for (let at = from; at < packet.length; at += packet.readUInt16BE(at) + 3) count += 1;
  return count;
};

/** Ready when somebody has subscribed to us, or, as a sink, when somebody is connected. */
const asBroker = async (isSink: boolean, qos: number): Promise<OpenEnd> => {
  const server = createServer();
  const port = await listenOnLoopback(server);
  const { follow, listen } = listener();
  const sockets = new Set<Socket>();
  const ready = new Promise<Socket>((resolve) => {
    server.on('connection', (socket) => {
      sockets.add(socket);
      listen(socket, (type, packet, body) => {
        if (type === 1) {
          // One that speaks MQTT 5 is to come again with 3.1.1.
          const isOther = packet[body + 6] !== 4;
          socket.write(Buffer.from([0x20, 2, 0, isOther ? 1 : 0]));
          if (!isOther && isSink) resolve(socket);
        } else if (type === 8) {
          // Rules that have nothing to do with one another come in one SUBSCRIBE of up to 100 filters, each in QoS `qos`.
          const filters = countFilters(packet, body + 2);
          const head = [0x90, 2 + filters, packet[body] ?? 0, packet[body + 1] ?? 0];
          socket.write(Buffer.concat([Buffer.from(head), Buffer.alloc(filters, qos)]));
          if (!isSink) resolve(socket);
        } else if (type === 12) socket.write(Buffer.from([0xd0, 0]));
      });
    });
  });
  const close = (): void => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { port, follow, ready, close };
};

/** Opens an end; a sink gets what `filter` matches, a source has none. */
export const openEnd = async (end: LoadEnd, filter: string | null, qos: number): Promise<OpenEnd> =>
  end.kind === 'client' ? atBroker(end.at, filter, qos) : asBroker(filter !== null, qos);
