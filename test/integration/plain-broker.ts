import { connect, createServer, type Socket } from 'node:net';
import { closeServer, listenOnLoopback } from './loopback.ts';

/** A broker that speaks 3.1.1 only: another one behind a door that refuses MQTT 5. */
export interface PlainBroker extends AsyncDisposable {
  readonly port: number;
  /** Connections of clients whose id begins so end after that many bytes from the broker; null for none. */
  cutAfter: { readonly clientId: string; readonly bytes: number } | null;
}

const otherVersion = Buffer.from([0x20, 2, 0, 1]);

/** The protocol level and the client id of a CONNECT with a length of one or two bytes [MQTT-3.1]. */
const greetingOf = (frame: Buffer): { readonly level: number; readonly clientId: string } => {
  const body = (frame[1] ?? 0) > 127 ? 3 : 2;
  const level = frame[body + 6] ?? 0;
  const idAt = body + 10 + (level === 5 ? 1 + (frame[body + 10] ?? 0) : 0);
  return { level, clientId: frame.toString('utf8', idAt + 2, idAt + 2 + frame.readUInt16BE(idAt)) };
};

/** Stands in front of the broker at a port of loopback. `isMute`: MQTT 5 is not refused, but the connection ends. */
export const startPlainBroker = async (
  target: { readonly port: number },
  { isMute = false }: { readonly isMute?: boolean } = {},
): Promise<PlainBroker> => {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (near) => {
    sockets.add(near);
    near.on('error', () => near.destroy()).on('close', () => sockets.delete(near));
    near.once('data', (greeting) => {
      const { level, clientId } = greetingOf(greeting);
      if (level === 5) {
        if (isMute) near.destroy();
        else near.end(otherVersion);
        return;
      }
      const limit = broker.cutAfter;
      const most = limit !== null && clientId.startsWith(limit.clientId) ? limit.bytes : Number.POSITIVE_INFINITY;
      let passed = 0;
      const far = connect({ port: target.port, host: '127.0.0.1', noDelay: true });
      const end = (): void => {
        near.destroy();
        far.destroy();
      };
      for (const socket of [near, far]) socket.on('error', end).on('close', end);
      far.write(greeting);
      near.on('data', (data) => far.write(data));
      far.on('data', (data) => {
        near.write(data.subarray(0, most - passed));
        passed += data.length;
        if (passed > most) near.end();
      });
    });
  });
  const port = await listenOnLoopback(server);
  const broker: PlainBroker = {
    port,
    cutAfter: null,
    [Symbol.asyncDispose]: () => {
      for (const socket of sockets) socket.destroy();
      return closeServer(server);
    },
  };
  return broker;
};
