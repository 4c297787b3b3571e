import { topicsUnder } from '@infrakit/core';
import { describe, expect, it } from 'vitest';
import { memoryBroker } from '../connection/memory-broker.ts';
import { virtualTime } from '../virtual-time.ts';
import { clearOrphans } from './orphans.ts';
import { pluginRegistry } from './registry.ts';

const quiet = (): void => {};
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const topics = topicsUnder('infrakit');
const presence = { pid: 1, host: 'h', version: '1' };

const scene = async () => {
  const time = virtualTime();
  const { after, nowMs } = time;
  const broker = memoryBroker({ after, log });
  const connection = broker.connect({ clientId: 'n1' });
  const registry = pluginRegistry({ connection, topics, after, nowMs, log }, { nonce: 'n1', presence: () => presence });
  clearOrphans({ connection, topics, registry, graceMs: 1_000, random: () => 0, after, log });
  const other = broker.connect({ clientId: 'other' });
  const write = async (topic: string, value: object | undefined): Promise<void> => {
    await other.publish(topic, value === undefined ? '' : JSON.stringify(value), { qos: 1, retain: true });
  };
  await write(topics.plugin('house', 'n2.1'), { process: 'n2', role: 'active', interfaces: [] });
  const isThere = (): boolean => broker.retained().has(topics.plugin('house', 'n2.1'));
  await time.advance(100);
  return { time, broker, write, isThere, registry };
};

describe('clearOrphans (DESIGN §3)', () => {
  it('clears what has had no process for the grace, not before', async () => {
    const { time, isThere } = await scene();
    await time.advance(800);
    expect(isThere()).toBe(true);
    await time.advance(300);
    expect(isThere()).toBe(false);
  });

  it('spares a process that comes back, and counts anew when it goes again', async () => {
    const { time, write, isThere } = await scene();
    await time.advance(800);
    await write(topics.process('n2'), presence);
    await time.advance(5_000);
    expect(isThere()).toBe(true);
    await write(topics.process('n2'), undefined);
    await time.advance(800);
    expect(isThere()).toBe(true);
    await time.advance(300);
    expect(isThere()).toBe(false);
  });

  it('tries again when the broker was away', async () => {
    const { time, broker, isThere } = await scene();
    broker.stop();
    await time.advance(1_500);
    broker.start({ keepRetained: true });
    expect(isThere()).toBe(true);
    await time.advance(3_000);
    expect(isThere()).toBe(false);
  });
});
