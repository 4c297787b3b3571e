import { connect as connectTcp, isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { BrokerAddress } from '@infrakit/core';
import mqtt, { type IClientOptions, MqttClient } from 'mqtt';

/** TLS material itself, PEM. */
export interface TlsMaterial {
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
}

/**
 * A client of the address that has begun to connect. Small packets are sent at once (no Nagle), and the certificate of the
 * broker is always checked. `onStreamError` gets what the client itself swallows.
 */
export const mqttClient = (
  address: BrokerAddress,
  options: IClientOptions,
  how: { readonly tls: TlsMaterial; readonly onStreamError: (error: unknown) => void },
): MqttClient => {
  const { tls, onStreamError } = how;
  if (address.kind === 'ws' || address.kind === 'wss') {
    const { ca, cert, key } = tls;
    const client = mqtt.connect(address.url, { ...options, wsOptions: { ca, cert, key } });
    client.stream.on('error', onStreamError);
    return client;
  }
  const open = (): Duplex => {
    if (address.kind === 'unix') return connectTcp({ path: address.path });
    const { host, port } = address;
    if (address.kind === 'tcp') return connectTcp({ host, port, noDelay: true });
    const socket = connectTls({ host, port, ...tls, ...(isIP(host) === 0 ? { servername: host } : {}) });
    return socket.setNoDelay(true);
  };
  return new MqttClient(() => open().on('error', onStreamError), options);
};
