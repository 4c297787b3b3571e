import { mkdtemp, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ConnectionSubject,
  connectEmbedded,
  connectionContract,
  connectMqtt,
  type MqttVersion,
  parseBrokerUrl,
  startEmbeddedBroker,
} from '@infrakit/bus';
import type { MakeSubject } from '@infrakit/spi';
import { realAfter } from '@infrakit/spi';
import { describe, expect, test, vi } from 'vitest';
import { contractTests } from '../contract.ts';
import { startEmbedded } from './embedded.ts';
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

/** The embedded broker, where everything is allowed. */
const onEmbedded =
  (isInProcess: boolean): MakeSubject<ConnectionSubject> =>
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'infrakit-broker-'));
    const socketPath = join(folder, 'b.sock');
    const startBroker = () => startEmbeddedBroker({ socketPath }, { ...deps, now: () => performance.now() });
    let broker = await startBroker();
    const network = await startNetwork(() => socketPath);
    const mutes: Socket[] = [];
    return {
      connect: async (options) =>
        isInProcess
          ? connectEmbedded({ broker: () => broker, ...options }, deps)
          : connect(`mqtt://127.0.0.1:${network.port}`, options),
      connectMute: async ({ clientId, will }) => {
        mutes.push(await connectMute(network.port, clientId, will));
      },
      stop: () => broker.stop(),
      start: async () => {
        broker = await startBroker();
      },
      ...(isInProcess ? {} : { freeze: network.freeze }),
      thaw: network.thaw,
      [Symbol.asyncDispose]: async () => {
        for (const mute of mutes) mute.destroy();
        await network[Symbol.asyncDispose]();
        await broker.stop();
        await rm(folder, { recursive: true, force: true });
      },
    };
  };

describe('the embedded broker', () => contractTests(connectionContract, onEmbedded(false)));
describe('the embedded broker, in its process', () => contractTests(connectionContract, onEmbedded(true)));
describe('mosquitto, MQTT 3.1.1', () => contractTests(connectionContract, onMosquitto('3.1.1')));
describe('mosquitto, MQTT 5', () => contractTests(connectionContract, onMosquitto('5')));

test('a client in the process of its broker knows whether anybody listens to a topic, in the process or beyond', async () => {
  await using subject = await startEmbedded();
  const client = connectEmbedded({ broker: () => subject.broker, clientId: 'teller' }, deps);
  const other = await connect(`unix:${subject.socketPath}`, { clientId: 'other' });
  expect(client.isHeard?.('t/1')).toBe(false);
  const beyond = other.subscribe('t/+', 0, () => undefined);
  await beyond.ready();
  expect(client.isHeard?.('t/1')).toBe(true);
  beyond.close();
  await vi.waitFor(() => expect(client.isHeard?.('t/1')).toBe(false));
  client.subscribe('#', 0, () => undefined);
  await vi.waitFor(() => expect([client.isHeard?.('t/1'), client.isHeard?.('$SYS/x')]).toEqual([true, false]));
  expect(other.isHeard?.('nobody/knows')).toBe(true);
  await Promise.all([client.close(), other.close()]);
});
