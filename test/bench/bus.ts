import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Bus, connectMqtt, openBus, parseBrokerUrl, startEmbeddedBroker } from '@infrakit/bus';
import type { Event, InstanceDescription } from '@infrakit/core';
import {
  type CallContext,
  type Instance,
  instanceInterface,
  memoryInstance,
  type PluginObject,
  pluginObject,
  realAfter,
} from '@infrakit/spi';
import { startMosquitto } from '../integration/mosquitto.ts';

const quiet = (): void => {};
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const measureMs = 1_500;
const concurrency = 64;

const ctx = (): CallContext => ({ signal: new AbortController().signal, timeoutMs: 60_000 });
const round = (value: number): number => Math.round(value * 1_000) / 1_000;

let processes = 0;
const openAt = (url: string): Promise<Bus> => {
  processes += 1;
  const nonce = `n${processes}`;
  return openBus({
    connect: (will) =>
      connectMqtt(
        { address: parseBrokerUrl(url), clientId: `bench-${nonce}`, will },
        { after: realAfter, random: Math.random, log },
      ),
    identity: { nonce, pid: process.pid, host: 'here', version: '0.1.0' },
    clock: { nowMs: Date.now, after: realAfter },
    random: Math.random,
    newId: () => crypto.randomUUID(),
    log,
  });
};

const online = (bus: Bus, name: string): Promise<void> =>
  new Promise((resolve) => {
    const watching = bus.registry.watch(name).subscribe(({ kind }) => {
      if (kind !== 'online') return;
      resolve();
      queueMicrotask(() => watching.unsubscribe());
    });
  });

/** An instance plugin with so many entries, which never change. */
const listed = (count: number): Instance => {
  const instances: InstanceDescription[] = Array.from({ length: count }, (_, n) => ({
    ID: `i-${n}`,
    LogicalID: `l-${n}`,
    Tags: { 'infrakit.group': 'cattle', 'infrakit.config': 'c0ffee', n: String(n) },
  }));
  const digest = `d${count}`;
  const all = Object.freeze({ kind: 'instances' as const, digest, instances });
  return {
    ...memoryInstance().instance,
    describe: async (params) => (params.digest === digest ? { kind: 'unchanged', digest } : all),
  };
};

const instanceObject = (object: string, implementation: Instance): PluginObject =>
  pluginObject({ object, description: instanceInterface, implementation });

const roundTrips = async (call: () => Promise<unknown>): Promise<Readonly<Record<string, number>>> => {
  for (let n = 0; n < 200; n += 1) await call();
  const times: number[] = [];
  const endMs = performance.now() + measureMs;
  while (performance.now() < endMs) {
    const before = performance.now();
    await call();
    times.push(performance.now() - before);
  }
  times.sort((a, b) => a - b);
  const at = (part: number): number => round(times[Math.floor(times.length * part)] ?? 0);
  let done = 0;
  const beganMs = performance.now();
  const work = async (): Promise<void> => {
    while (performance.now() < beganMs + measureMs) {
      await call();
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  const perSecond = Math.round(done / ((performance.now() - beganMs) / 1_000));
  return { p50Ms: at(0.5), p99Ms: at(0.99), oneAtATimePerSecond: Math.round(1_000 / at(0.5)), perSecond };
};

const describeTimes = async (instance: Instance): Promise<Readonly<Record<string, number>>> => {
  const params = { tags: {}, properties: false };
  const before = performance.now();
  const first = await instance.describe(params, ctx());
  const between = performance.now();
  await instance.describe({ ...params, digest: first.digest }, ctx());
  return { firstMs: round(between - before), unchangedMs: round(performance.now() - between) };
};

/** Publishes a batch, waits until everybody has it, and so on. */
const eventsPerSecond = async (source: Bus, subscribers: readonly Bus[]): Promise<number> => {
  const batch = 500;
  const { events, stop } = await source.start('ticker', { isSingle: true, objects: () => [] });
  let [got, expected] = [0, 0];
  let done: () => void = quiet;
  const subscriptions = subscribers.map((bus) =>
    bus.subscribe('ticker', '.').subscribe(({ kind }) => {
      if (kind !== 'event') return;
      got += 1;
      if (got === expected) done();
    }),
  );
  await delay(300);
  const event: Event = { Topic: 'tick', ID: 'i', Message: '', Timestamp: '2026-01-01T00:00:00Z' };
  const beganMs = performance.now();
  let sent = 0;
  while (performance.now() < beganMs + measureMs) {
    expected = got + batch * subscribers.length;
    const all = new Promise<void>((resolve) => {
      done = resolve;
    });
    for (let n = 0; n < batch; n += 1) events.publish(event);
    sent += batch;
    await all;
  }
  const perSecond = Math.round(sent / ((performance.now() - beganMs) / 1_000));
  for (const subscription of subscriptions) subscription.unsubscribe();
  await stop();
  return perSecond;
};

const idleCpuPercent = async (): Promise<number> => {
  await delay(500);
  const [before, beganMs] = [process.cpuUsage(), performance.now()];
  await delay(3_000);
  const { user, system } = process.cpuUsage(before);
  return round((user + system) / 10 / (performance.now() - beganMs));
};

const onBroker = async (url: string): Promise<Readonly<Record<string, unknown>>> => {
  const [server, client] = [await openAt(url), await openAt(url)];
  const small = instanceObject('small', listed(1));
  const objects = [small, ...[10_000, 100_000].map((count) => instanceObject(String(count), listed(count)))];
  const many = Array.from({ length: 1_000 }, (_, n) => ({ ...small, object: `object-${n}` }));
  await server.start('bench', { isSingle: true, objects: () => objects });
  await server.start('many', { isSingle: true, objects: () => many });
  await online(client, 'bench');
  await online(client, 'many');
  const resolve = (bus: Bus, object: string) => bus.plugins.resolve(instanceInterface, `bench/${object}`);
  const call = (bus: Bus) => {
    const instance = resolve(bus, 'small');
    return () => instance.validate({ properties: {} }, ctx());
  };
  const figures = {
    rpc: await roundTrips(call(client)),
    rpcInProcess: await roundTrips(call(server)),
    describe10000: await describeTimes(resolve(client, '10000')),
    describe100000: await describeTimes(resolve(client, '100000')),
    idleCpuPercentWith1000Objects: await idleCpuPercent(),
  };
  const finds: number[] = [];
  for (let n = 0; n < 5; n += 1) {
    const before = performance.now();
    const finder = await openAt(url);
    await online(finder, 'many/object-999');
    finds.push(performance.now() - before);
    await finder.close();
  }
  const events1 = await eventsPerSecond(server, [client]);
  const subscribers = await Promise.all(Array.from({ length: 100 }, () => openAt(url)));
  const events100 = await eventsPerSecond(server, subscribers);
  await Promise.all([...subscribers, client].map((bus) => bus.close()));
  await server.close();
  finds.sort((a, b) => a - b);
  return {
    ...figures,
    connectAndFind1000ObjectsMs: round(finds[2] ?? 0),
    eventsPerSecondTo1: events1,
    eventsPerSecondTo100: events100,
  };
};

/**
 * The bus over the embedded broker by its UNIX socket, in one process with its clients as `plugin start` has it, and over
 * a mosquitto by TCP. `rpcInProcess` is a call to a plugin of the same process.
 */
export const run = async (): Promise<Record<string, unknown>> => {
  const folder = await mkdtemp(join(tmpdir(), 'infrakit-bench-'));
  const socketPath = join(folder, 'broker.sock');
  const embedded = await startEmbeddedBroker({ socketPath }, { log, after: realAfter, now: () => performance.now() });
  const overSocket = await onBroker(`unix:${socketPath}`);
  await embedded.stop();
  await rm(folder, { recursive: true, force: true });
  await using broker = await startMosquitto({ config: ['max_queued_messages 0', 'max_inflight_messages 0'] });
  return { embeddedUnixSocket: overSocket, mosquitto: await onBroker(broker.url) };
};
