import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect as connectSocket, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  type BusSubject,
  busContract,
  connectEmbedded,
  connectMqtt,
  type MqttVersion,
  openBus,
  parseBrokerUrl,
  startEmbeddedBroker,
} from '@infrakit/bus';
import { type MakeSubject, realAfter } from '@infrakit/spi';
import { describe, expect, test, vi } from 'vitest';
import { contractTests } from '../contract.ts';
import { requireProgram } from '../programs.mjs';
import { closeServer, listenOnLoopback } from './loopback.ts';
import { startMosquitto } from './mosquitto.ts';
import { connectMute } from './mute-client.ts';

const quiet = (): void => {};
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const deps = { after: realAfter, random: Math.random, log };

const connector =
  (url: string, version?: MqttVersion): BusSubject['connect'] =>
  (options) =>
    connectMqtt({ address: parseBrokerUrl(url), ...options, ...(version === undefined ? {} : { version }) }, deps);

const onMosquitto =
  (version: MqttVersion): MakeSubject<BusSubject> =>
  async () => {
    const broker = await startMosquitto({ config: ['max_queued_messages 0'] });
    const mutes: Socket[] = [];
    return {
      connect: connector(broker.url, version),
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

const startEmbedded = (socketPath: string) =>
  startEmbeddedBroker(
    { socketPath, listen: { host: '127.0.0.1', port: 0 } },
    { log, after: realAfter, now: () => performance.now() },
  );

/** The mute client speaks TCP, and only the UNIX socket may do everything. */
const forwardTo = async (socketPath: string) => {
  const server = createServer((near) => {
    const far = connectSocket(socketPath);
    near.on('error', quiet).on('close', () => far.destroy());
    far.on('error', quiet).on('close', () => near.destroy());
    near.pipe(far).pipe(near);
  });
  return { port: await listenOnLoopback(server), close: () => closeServer(server) };
};

const onEmbedded =
  (isInProcess: boolean): MakeSubject<BusSubject> =>
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'infrakit-bus-'));
    const socketPath = join(folder, 'broker.sock');
    const forward = await forwardTo(socketPath);
    const mutes: Socket[] = [];
    let broker = await startEmbedded(socketPath);
    return {
      connect: async (options) =>
        isInProcess
          ? connectEmbedded({ broker: () => broker, ...options }, deps)
          : connector(`unix:${socketPath}`)(options),
      connectMute: async ({ clientId, will }) => {
        mutes.push(await connectMute(forward.port, clientId, will));
      },
      stop: () => broker.stop(),
      start: async () => {
        broker = await startEmbedded(socketPath);
      },
      thaw: quiet,
      [Symbol.asyncDispose]: async () => {
        for (const mute of mutes) mute.destroy();
        await broker.stop();
        await forward.close();
        await rm(folder, { recursive: true, force: true });
      },
    };
  };

describe('the embedded broker', () => contractTests(busContract, onEmbedded(false)));
describe('the embedded broker, in its process', () => contractTests(busContract, onEmbedded(true)));
describe('mosquitto, MQTT 3.1.1', () => contractTests(busContract, onMosquitto('3.1.1')));
describe('mosquitto, MQTT 5', () => contractTests(busContract, onMosquitto('5')));

test('mosquitto_sub lists the members of a group and follows its events, with no tool of ours (DESIGN §3)', async () => {
  await using broker = await startMosquitto();
  const listen = async (...args: string[]): Promise<string[]> => {
    const subscriber = promisify(execFile)(requireProgram('mosquitto_sub'), ['-p', String(broker.port), ...args]);
    // With -W it always ends by its deadline, which it calls an error.
    const { stdout } = await subscriber.catch((error: { stdout: string }) => error);
    return stdout.split('\n').filter((line) => line !== '');
  };
  const bus = await openBus({
    connect: (will) => connector(broker.url)({ clientId: 'group-n1', will }),
    identity: { nonce: 'n1', pid: process.pid, host: 'here', version: '0.1.0' },
    clock: { nowMs: Date.now, after: realAfter },
    random: Math.random,
    newId: () => crypto.randomUUID(),
    log,
  });
  try {
    const group = await bus.start('group', { isSingle: true, objects: () => [] });
    const member = { LogicalID: null, Tags: null, Health: 'healthy' } as const;
    group.members.publish('cattle', [
      { ID: 'i-1', ...member },
      { ID: 'i-2', ...member },
    ]);
    const following = listen('-v', '-t', 'infrakit/events/#', '-C', '1', '-W', '10');
    const tick = (): void => {
      group.events.publish({
        Topic: 'cattle/member/joined',
        ID: 'i-1',
        Message: '',
        Timestamp: '2026-01-01T00:00:00Z',
      });
    };
    let stop = quiet;
    const tickOften = (): void => {
      tick();
      stop = realAfter(20, tickOften);
    };
    tickOften();
    const [event = ''] = await following;
    stop();
    expect(event).toMatch(/^infrakit\/events\/group\/cattle\/member\/joined \{.*"ID":"i-1"/);
    await vi.waitFor(
      async () => {
        const lines = await listen('-t', 'infrakit/members/group/cattle/+', '--retained-only', '-W', '1');
        expect(lines.map((line) => JSON.parse(line).ID).sort()).toEqual(['i-1', 'i-2']);
      },
      { timeout: 10_000 },
    );
  } finally {
    await bus.close();
  }
});
