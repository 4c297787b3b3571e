import { type PluginAdvertisement, topicsUnder } from '@infrakit/core';
import { describe, expect, it } from 'vitest';
import { memoryBroker } from '../connection/memory-broker.ts';
import { virtualTime } from '../virtual-time.ts';
import { pluginRegistry } from './registry.ts';

const quiet = (): void => {};
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const topics = topicsUnder('infrakit');
const presence = { pid: 1, host: 'h', version: '1' };
const advertisement: PluginAdvertisement = { process: 'n2', role: 'active', interfaces: [] };

const scene = () => {
  const time = virtualTime();
  const { after, nowMs } = time;
  const broker = memoryBroker({ after, log });
  const connection = broker.connect({ clientId: 'n1' });
  const registry = pluginRegistry({ connection, topics, after, nowMs, log }, { nonce: 'n1', presence: () => presence });
  const other = broker.connect({ clientId: 'other' });
  const write = (topic: string, value: unknown) =>
    other.publish(topic, value === undefined ? '' : JSON.stringify(value), { qos: 1, retain: true });
  const appear = async (): Promise<void> => {
    await write(topics.process('n2'), presence);
    await write(topics.plugin('house', 'n2.1'), advertisement);
  };
  return { time, broker, registry, write, appear };
};

describe('pluginRegistry (DESIGN §3)', () => {
  it('is ready when all that is retained was seen, and not before', async () => {
    const { time, registry, appear } = scene();
    await appear();
    const ready = registry.ready(1_000).then(() => registry.active('house')?.incarnation);
    // Time stands still: messages are there, and nobody knows yet whether they are all.
    await time.advance(0);
    expect(registry.isReady()).toBe(false);
    await time.advance(500);
    expect(await ready).toBe('n2.1');
    expect(registry.isReady()).toBe(true);
  });

  it('ready ends at its deadline where there is no bus (Law 10)', async () => {
    const { time, broker, registry } = scene();
    broker.stop();
    const ready = registry.ready(1_000).catch(({ code }) => code);
    await time.advance(1_001);
    expect(await ready).toBe('RPC_TIMEOUT');
  });

  it('while the bus is away it keeps what it knew; afterwards it drops what is no longer there', async () => {
    const { time, broker, registry, appear } = scene();
    await appear();
    await time.advance(500);
    broker.stop();
    await time.advance(5_000);
    expect(registry.active('house')?.incarnation).toBe('n2.1');
    broker.start({ keepRetained: false });
    await time.advance(500);
    expect(registry.list()).toEqual([]);
    expect(registry.processes().size).toBe(0);
  });

  it('watch gives the present presence first, each change once, and ends with the process', async () => {
    const { time, registry, write, appear } = scene();
    const seen: string[] = [];
    let isComplete = false;
    registry.watch('house').subscribe({
      next: (now) => seen.push(now.kind === 'online' ? now.incarnation : now.kind),
      complete: () => {
        isComplete = true;
      },
    });
    expect(seen).toEqual(['offline']);
    await time.advance(500);
    await appear();
    await write(topics.process('unrelated'), presence);
    await write(topics.plugin('house', 'n2.1'), advertisement);
    await time.advance(10);
    await write(topics.plugin('house', 'n2.2'), advertisement);
    await time.advance(10);
    await write(topics.process('n2'), undefined);
    await time.advance(10);
    // The first reason changes when discovery is complete.
    expect(seen).toEqual(['offline', 'offline', 'n2.1', 'n2.2', 'offline']);
    registry.close();
    expect(isComplete).toBe(true);
  });

  it('knows what this process says itself without a broker', () => {
    const { broker, registry } = scene();
    broker.stop();
    registry.own('mine', 'n1.1', { ...advertisement, process: 'n1' });
    expect(registry.active('mine')?.incarnation).toBe('n1.1');
    registry.own('mine', 'n1.1', undefined);
    expect(registry.active('mine')).toBeUndefined();
  });

  it('what became garbage is no longer known, and counted', async () => {
    const { time, registry, write, appear } = scene();
    await appear();
    await time.advance(500);
    await write(topics.plugin('house', 'n2.1'), { role: 'king' });
    await time.advance(10);
    expect(registry.list()).toEqual([]);
    expect(registry.badCount()).toBe(1);
  });
});
