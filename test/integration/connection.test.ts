import { createServer, type Socket } from 'node:net';
import {
  type ConnectionSubject,
  connectionContract,
  connectMqtt,
  type MqttVersion,
  parseBrokerUrl,
} from '@infrakit/bus';
import type { MakeSubject } from '@infrakit/spi';
import { realAfter } from '@infrakit/spi';
import { Aedes } from 'aedes';
import { describe } from 'vitest';
import { contractTests } from '../contract.ts';
import { closeServer, listenOnLoopback } from './loopback.ts';
import { startMosquitto } from './mosquitto.ts';
import { connectMute } from './mute-client.ts';
import { startNetwork } from './network.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const deps = { after: realAfter, random: Math.random, log: silent };

const connect = (url: string, options: Parameters<ConnectionSubject['connect']>[0], version?: MqttVersion) =>
  connectMqtt({ address: parseBrokerUrl(url), ...options, ...(version === undefined ? {} : { version }) }, deps);

const onMosquitto =
  (version: MqttVersion): MakeSubject<ConnectionSubject> =>
  async () => {
    const broker = await startMosquitto({ config: ['max_queued_messages 0'] });
    const mutes: Socket[] = [];
    return {
      connect: (options) => connect(broker.url, options, version),
      connectMute: async ({ clientId, will }) => {
        mutes.push(await connectMute(broker.port, clientId, will));
      },
      stop: broker.stop,
      start: broker.start,
      freeze: broker.freeze,
      thaw: broker.thaw,
      [Symbol.asyncDispose]: async () => {
        for (const mute of mutes) mute.destroy();
        await broker[Symbol.asyncDispose]();
      },
    };
  };

const startAedes = async (port = 0) => {
  const aedes = await Aedes.createBroker();
  const server = createServer({ noDelay: true }, aedes.handle);
  return {
    port: await listenOnLoopback(server, port),
    stop: async () => {
      await new Promise<void>((resolve) => aedes.close(() => resolve()));
      await closeServer(server);
    },
  };
};

const onAedes: MakeSubject<ConnectionSubject> = async () => {
  let broker = await startAedes();
  const { port } = broker;
  const network = await startNetwork(() => port);
  const mutes: Socket[] = [];
  let isStopped = false;
  const stop = async () => {
    if (isStopped) return;
    isStopped = true;
    await broker.stop();
  };
  return {
    connect: (options) => connect(`mqtt://127.0.0.1:${network.port}`, options),
    connectMute: async ({ clientId, will }) => {
      mutes.push(await connectMute(port, clientId, will));
    },
    stop,
    start: async () => {
      broker = await startAedes(port);
      isStopped = false;
    },
    freeze: network.freeze,
    thaw: network.thaw,
    [Symbol.asyncDispose]: async () => {
      for (const mute of mutes) mute.destroy();
      await network[Symbol.asyncDispose]();
      await stop();
    },
  };
};

describe('aedes', () => contractTests(connectionContract, onAedes));
describe('mosquitto, MQTT 3.1.1', () => contractTests(connectionContract, onMosquitto('3.1.1')));
describe('mosquitto, MQTT 5', () => contractTests(connectionContract, onMosquitto('5')));
