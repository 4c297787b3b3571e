import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Connection,
  connectEmbedded,
  connectMqtt,
  type MqttVersion,
  parseBrokerUrl,
  startEmbeddedBroker,
} from '@infrakit/bus';
import { realAfter } from '@infrakit/spi';
import { startMosquitto } from './mosquitto.ts';
import { type Network, startNetwork } from './network.ts';

/** A broker behind a network that a test can disturb. */
export interface NetworkedBroker extends AsyncDisposable {
  readonly network: Network;
  readonly connect: (clientId: string) => Promise<Connection>;
}

const quiet = (): void => {};
const deps = {
  after: realAfter,
  random: Math.random,
  log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
};

const behindNetwork = async (
  target: number | string,
  stop: () => PromiseLike<void>,
  version?: MqttVersion,
): Promise<NetworkedBroker> => {
  const network = await startNetwork(() => target);
  const address = parseBrokerUrl(`mqtt://127.0.0.1:${network.port}`);
  const connections: Connection[] = [];
  return {
    network,
    connect: async (clientId) => {
      const connection = await connectMqtt({ address, clientId, ...(version === undefined ? {} : { version }) }, deps);
      connections.push(connection);
      return connection;
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(connections.map((connection) => connection.close()));
      await network[Symbol.asyncDispose]();
      await stop();
    },
  };
};

const onEmbedded = async (): Promise<NetworkedBroker> => {
  const folder = await mkdtemp(join(tmpdir(), 'infrakit-broker-'));
  const socketPath = join(folder, 'b.sock');
  const broker = await startEmbeddedBroker({ socketPath }, { ...deps, now: () => performance.now() });
  return behindNetwork(socketPath, async () => {
    await broker.stop();
    await rm(folder, { recursive: true, force: true });
  });
};

/** Its clients are in its process: there is no network to disturb between them. */
export const startInProcess = async (): Promise<Omit<NetworkedBroker, 'network'>> => {
  const broker = await startEmbeddedBroker({}, { ...deps, now: () => performance.now() });
  const connections: Connection[] = [];
  return {
    connect: async (clientId) => {
      const connection = connectEmbedded({ broker: () => broker, clientId }, deps);
      connections.push(connection);
      return connection;
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(connections.map((connection) => connection.close()));
      await broker.stop();
    },
  };
};

const onMosquitto = (version: MqttVersion) => async (): Promise<NetworkedBroker> => {
  const broker = await startMosquitto({ config: ['max_queued_messages 0'] });
  return behindNetwork(broker.port, () => broker[Symbol.asyncDispose](), version);
};

/** Every kind of broker that the bus runs on, by the name a test shows. */
export const brokers: readonly (readonly [name: string, start: () => Promise<NetworkedBroker>])[] = [
  ['the embedded broker', onEmbedded],
  ['mosquitto, MQTT 3.1.1', onMosquitto('3.1.1')],
  ['mosquitto, MQTT 5', onMosquitto('5')],
];
