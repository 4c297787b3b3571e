import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Will } from '@infrakit/bus';

const text = (value: string | Uint8Array): Buffer => {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 0xff]), bytes]);
};

/** CONNECT of MQTT 3.1.1 with a clean session, a will and a keepalive of one second. */
const connectPacket = (clientId: string, { topic, payload, qos, retain }: Will): Buffer => {
  const flags = 0x02 | 0x04 | (qos << 3) | (retain ? 0x20 : 0);
  const body = Buffer.concat([text('MQTT'), Buffer.from([4, flags, 0, 1]), text(clientId), text(topic), text(payload)]);
  if (body.length > 127) throw new Error('the packet is too long for one length byte');
  return Buffer.concat([Buffer.from([0x10, body.length]), body]);
};

/**
 * Connects a client that keeps its connection open and never says anything again: the broker gives it up after one and a
 * half keepalives [MQTT-3.1.2-24]. End the socket when the test is over.
 */
export const connectMute = async (port: number, clientId: string, will: Will): Promise<Socket> => {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => socket.destroy());
  socket.write(connectPacket(clientId, will));
  const [answer]: Buffer[] = await once(socket, 'data');
  if (answer?.[0] !== 0x20 || answer[3] !== 0) throw new Error('the broker did not accept the client');
  return socket;
};
