import { createServer } from 'node:net';
import { type Connection, connectMqtt, type MqttVersion, parseBrokerUrl } from '@infrakit/bus';
import { realAfter } from '@infrakit/spi';
import { Aedes } from 'aedes';
import { closeServer, listenOnLoopback } from './loopback.ts';
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
  port: number,
  stop: () => PromiseLike<void>,
  version?: MqttVersion,
): Promise<NetworkedBroker> => {
  const network = await startNetwork(() => port);
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

const onAedes = async (): Promise<NetworkedBroker> => {
  const aedes = await Aedes.createBroker();
  const server = createServer({ noDelay: true }, aedes.handle);
  return behindNetwork(await listenOnLoopback(server), async () => {
    await new Promise<void>((resolve) => aedes.close(() => resolve()));
    await closeServer(server);
  });
};

const onMosquitto = (version: MqttVersion) => async (): Promise<NetworkedBroker> => {
  const broker = await startMosquitto({ config: ['max_queued_messages 0'] });
  return behindNetwork(broker.port, () => broker[Symbol.asyncDispose](), version);
};

/** Every kind of broker that the bus runs on, by the name a test shows. */
export const brokers: readonly (readonly [name: string, start: () => Promise<NetworkedBroker>])[] = [
  ['aedes', onAedes],
  ['mosquitto, MQTT 3.1.1', onMosquitto('3.1.1')],
  ['mosquitto, MQTT 5', onMosquitto('5')],
];
