import { createServer, type Socket } from 'node:net';
import { closeServer, listenOnLoopback } from './loopback.ts';

/** Something at the other end of a connection that speaks MQTT as far as it must, and then does what a test likes. */
export interface HostileBroker extends AsyncDisposable {
  readonly port: number;
  /** Those that were not refused because they asked for MQTT 5. */
  readonly connections: () => number;
  /** How often it was asked whether it is alive. */
  readonly pings: () => number;
}

/** What it does beyond the usual answers: to each connection when it is greeted, and when it subscribes. */
export interface Hostility {
  /** In the place of a CONNACK. */
  readonly greeting?: Buffer;
  readonly greeted?: (socket: Socket) => void;
  readonly subscribed?: (socket: Socket) => void;
  /** How it answers a SUBSCRIBE; it grants QoS 1 unless said otherwise. */
  readonly grant?: number;
  /** Whether PINGREQ is answered; it is unless said otherwise. */
  readonly isMute?: boolean;
  /** It speaks MQTT 5 too, and says this of itself in its CONNACK: properties, as bytes. */
  readonly limits5?: readonly number[];
}

const connack = Buffer.from([0x20, 2, 0, 0]);
/** It speaks 3.1.1 only [MQTT-3.1.2-2]. */
const otherVersion = Buffer.from([0x20, 2, 0, 1]);
const pingresp = Buffer.from([0xd0, 0]);

/** The length of a packet [MQTT-2.2.3], as bytes. */
export const lengthBytes = (length: number): number[] =>
  length < 128 ? [length] : [(length & 127) | 128, ...lengthBytes(length >> 7)];

/** A whole PUBLISH of QoS 0 or 1, or the head of one whose payload, of `bytes`, comes later. */
export const publishPacket = (
  topic: string | Buffer,
  payload: string,
  options: { readonly id?: number; readonly bytes?: number } = {},
): Buffer => {
  const { id, bytes = Buffer.byteLength(payload) } = options;
  const name = Buffer.from(topic);
  const idBytes = id === undefined ? [] : [id >> 8, id & 0xff];
  const head = [id === undefined ? 0x30 : 0x32, ...lengthBytes(2 + name.length + idBytes.length + bytes)];
  const size = [name.length >> 8, name.length & 0xff];
  return Buffer.concat([Buffer.from([...head, ...size]), name, Buffer.from(idBytes), Buffer.from(payload)]);
};

/** Writes what `next` gives until that is null, no faster than it is read. */
export const pour = (socket: Socket, next: () => Buffer | null): void => {
  const go = (): void => {
    for (;;) {
      if (socket.destroyed) return;
      const chunk = next();
      if (chunk === null) return;
      if (!socket.write(chunk)) {
        socket.once('drain', go);
        return;
      }
    }
  };
  go();
};

/** Starts one on a free port of loopback. Packets of clients are small, and come whole. */
export const startHostileBroker = async (hostility: Hostility): Promise<HostileBroker> => {
  const { greeting = connack, greeted, subscribed, isMute = false, limits5, grant = 1 } = hostility;
  const sockets = new Set<Socket>();
  let [connections, pings] = [0, 0];

  const isOf5 = new WeakSet<Socket>();
  const answer = (socket: Socket, type: number, body: Buffer): void => {
    if (type === 1 && body[6] === 5 && limits5 !== undefined) {
      isOf5.add(socket);
      socket.write(Buffer.from([0x20, 3 + limits5.length, 0, 0, limits5.length, ...limits5]));
      greeted?.(socket);
    } else if (type === 1) {
      if (body[6] === 5 && greeting === connack) {
        connections -= 1;
        socket.end(otherVersion);
        return;
      }
      socket.write(greeting);
      greeted?.(socket);
    } else if (type === 8) {
      // One code for each filter: a packet of ours never has so many that this would matter.
      const codes = isOf5.has(socket) ? [0, grant] : [grant];
      socket.write(Buffer.from([0x90, 2 + codes.length, body[0] ?? 0, body[1] ?? 0, ...codes]));
      if (!body.includes('infrakit-canary')) subscribed?.(socket);
    } else if (type === 12) {
      pings += 1;
      if (!isMute) socket.write(pingresp);
    }
  };

  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy());
    let rest = Buffer.alloc(0);
    socket.on('data', (data) => {
      rest = Buffer.concat([rest, data]);
      while (rest.length >= 2) {
        let [length, at, shift] = [0, 1, 0];
        for (let byte = 128; byte > 127 && at < rest.length; at += 1, shift += 7) {
          byte = rest[at] ?? 0;
          length += (byte & 127) << shift;
        }
        if (rest.length < at + length) return;
        answer(socket, (rest[0] ?? 0) >> 4, rest.subarray(at, at + length));
        rest = rest.subarray(at + length);
      }
    });
  });
  const port = await listenOnLoopback(server);
  return {
    port,
    connections: () => connections,
    pings: () => pings,
    [Symbol.asyncDispose]: () => {
      for (const socket of sockets) socket.destroy();
      return closeServer(server);
    },
  };
};
