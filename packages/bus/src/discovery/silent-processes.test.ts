import { topicsUnder } from '@infrakit/core';
import { describe, expect, it } from 'vitest';
import { type Bus, openBus } from '../bus.ts';
import { memoryBroker } from '../connection/memory-broker.ts';
import { virtualTime } from '../virtual-time.ts';

const quiet = (): void => {};
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const topics = topicsUnder('infrakit');
const ghost = topics.process('ghost');

/** A broker that remembers a process which is there no more, and a bus that comes to it. */
const scene = async (from: { readonly host: string; readonly pid: number }, living: readonly number[] = []) => {
  const time = virtualTime();
  const { after } = time;
  const broker = memoryBroker({ after, log });
  const other = broker.connect({ clientId: 'other' });
  const write = () => other.publish(ghost, JSON.stringify({ ...from, version: '1' }), { qos: 1, retain: true });
  const open = (nonce: string): Promise<Bus> =>
    openBus({
      connect: (will) => broker.connect({ clientId: nonce, will }),
      identity: { nonce, pid: 1, host: 'here', version: '1' },
      clock: time,
      random: () => 0,
      newId: () => 'id',
      log,
      isLiving: (pid) => pid === 1 || living.includes(pid),
    });
  await write();
  const bus = await open('n1');
  await time.advance(100);
  return { time, broker, other, write, open, bus, isThere: () => broker.retained().has(ghost) };
};

describe('processes that are gone without their will (DESIGN §3: online iff its process exists)', () => {
  it('one of this machine that does not live is cleared at once', async () => {
    const { isThere, bus } = await scene({ host: 'here', pid: 7 });
    expect(isThere()).toBe(false);
    expect([...bus.registry.processes().keys()]).toEqual(['n1']);
  });

  it('one of this machine that lives stays', async () => {
    const { isThere } = await scene({ host: 'here', pid: 7 }, [7]);
    expect(isThere()).toBe(true);
  });

  it('a living one whose pid is not seen from here says so again, and is not cleared a second time', async () => {
    const { time, isThere, write } = await scene({ host: 'here', pid: 7 });
    await write();
    await time.advance(10_000);
    expect(isThere()).toBe(true);
  });

  it('one of another machine is cleared after two and a half minutes of silence', async () => {
    const { time, isThere } = await scene({ host: 'there', pid: 7 });
    await time.advance(120_000);
    expect(isThere()).toBe(true);
    await time.advance(60_000);
    expect(isThere()).toBe(false);
  });

  it('its name is free then', async () => {
    const { time, other, bus } = await scene({ host: 'there', pid: 7 });
    const advertisement = { process: 'ghost', role: 'active', interfaces: [] };
    await other.publish(topics.plugin('house', 'ghost.1'), JSON.stringify(advertisement), { qos: 1, retain: true });
    await time.advance(100);
    expect(bus.registry.active('house')?.incarnation).toBe('ghost.1');
    await time.advance(200_000);
    expect(bus.registry.list()).toEqual([]);
  });

  it('living processes hear of each other and stay, however long nothing happens', async () => {
    const { time, open, bus } = await scene({ host: 'here', pid: 7 });
    const second = await open('n2');
    let cleared = 0;
    const watching = bus.registry.changes.subscribe(() => {
      if (!bus.registry.processes().has('n2')) cleared += 1;
    });
    await time.advance(3_600_000);
    watching.unsubscribe();
    expect(cleared).toBe(0);
    expect([...second.registry.processes().keys()].sort()).toEqual(['n1', 'n2']);
  });

  it('what was not heard while the bus was away is no silence', async () => {
    const { time, broker, isThere } = await scene({ host: 'there', pid: 7 });
    await time.advance(90_000);
    broker.stop();
    await time.advance(90_000);
    broker.start({ keepRetained: true });
    await time.advance(90_000);
    expect(isThere()).toBe(true);
  });
});
