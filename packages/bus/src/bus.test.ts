import { topicsUnder } from '@infrakit/core';
import { type ObjectState, testingContext } from '@infrakit/spi';
import { describe, expect, it } from 'vitest';
import { type Bus, openBus } from './bus.ts';
import type { PluginStart } from './bus-plugin.ts';
import { memoryBroker } from './connection/memory-broker.ts';
import { lamp, lampInterface } from './contract/bus-scene.ts';
import { rpcClient } from './rpc/rpc-client.ts';
import { virtualTime } from './virtual-time.ts';

const quiet = (): void => {};
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const topics = topicsUnder('infrakit');
const state: ObjectState = { kind: 'k', revision: 1, specHash: '', conditions: [], counts: {}, digest: '' };
const objects = [lamp('', 'x')];
const single: PluginStart = { isSingle: true, objects: () => objects };

const scene = () => {
  const time = virtualTime();
  const broker = memoryBroker({ after: time.after, log });
  const open = (nonce: string): Promise<Bus> =>
    openBus({
      connect: (will) => broker.connect({ clientId: nonce, will }),
      identity: { nonce, pid: 1, host: 'h', version: '1' },
      clock: time,
      random: () => 0,
      newId: () => 'id',
      log,
    });
  /** What a promise comes to while time passes. */
  const passing = async <T>(promise: Promise<T>, ms = 500): Promise<T> => {
    promise.catch(() => undefined);
    await time.advance(ms);
    return promise;
  };
  return { time, broker, open, passing };
};

describe('openBus (DESIGN §3)', () => {
  it('a process says every 30 s that it lives, with one of its states, however many plugins and objects it has', async () => {
    const { time, broker, open, passing } = scene();
    const bus = await open('n1');
    for (const name of ['one', 'two']) {
      const plugin = await passing(bus.start(name, single));
      for (const object of ['a', 'b']) plugin.state.publish(object, state);
    }
    await time.advance(5_000);
    const seen: string[] = [];
    const watcher = broker.connect({ clientId: 'w' });
    watcher.subscribe('infrakit/#', 0, ({ topic, retain }) => !retain && seen.push(topic));
    await time.advance(90_000);
    const beat = ['infrakit/state/one/-', 'infrakit/processes/n1'];
    expect(seen).toEqual([...beat, ...beat, ...beat]);
  });

  it('a process that leaves in order takes its process and plugins with it, and leaves states and members', async () => {
    const { time, broker, open, passing } = scene();
    const bus = await open('n1');
    const plugin = await passing(bus.start('group', single));
    plugin.state.publish('cattle', state);
    plugin.members.publish('cattle', [{ ID: 'i', LogicalID: null, Tags: null, Health: 'healthy' }]);
    // Not even what waits to be published is lost.
    await passing(bus.close());
    await time.advance(1_000);
    expect([...broker.retained().keys()].sort()).toEqual([
      'infrakit/members/group/cattle/i',
      'infrakit/state/group/cattle',
    ]);
  });

  it('leaving ends within its deadline where the broker does not answer (Law 10)', async () => {
    const { broker, open, passing } = scene();
    const bus = await open('n1');
    await passing(bus.start('group', single));
    broker.freeze();
    await passing(bus.close(), 10_000);
  });

  it('a start without a broker is BUS_UNAVAILABLE after its deadline, and can be tried again', async () => {
    const { broker, open, passing } = scene();
    const bus = await open('n1');
    broker.stop();
    const failing = bus.start('group', { ...single, timeoutMs: 1_000 });
    await expect(passing(failing, 5_000)).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
    broker.start({ keepRetained: false });
    await passing(bus.start('group', single), 5_000);
    expect(broker.retained().has(topics.plugin('group', 'n1.2'))).toBe(true);
  });

  it('what others write over its process and its plugin is put right, within the session', async () => {
    const { time, broker, open, passing } = scene();
    const bus = await open('n1');
    await passing(bus.start('group', single));
    const own = [topics.process('n1'), topics.plugin('group', 'n1.1')];
    const there = (): string[] => own.map((topic) => Buffer.from(broker.retained().get(topic) ?? []).toString());
    const before = there();
    const forger = broker.connect({ clientId: 'forger' });
    for (const garbage of ['garbage', '']) {
      for (const topic of own) await passing(forger.publish(topic, garbage, { qos: 1, retain: true }), 10);
      expect(there()).toEqual([garbage, garbage]);
      await time.advance(1_000);
      expect(there()).toEqual(before);
    }
  });

  it('a claimant that hangs between claiming and taking a name does not keep it for ever (Law 10)', async () => {
    const { broker, open, passing } = scene();
    const hung = broker.connect({ clientId: 'n9' });
    const write = (topic: string, value: object) =>
      hung.publish(topic, JSON.stringify(value), { qos: 1, retain: true });
    await passing(write(topics.process('n9'), { pid: 9, host: 'h', version: '1' }));
    await passing(write(topics.plugin('house', 'n9.1'), { process: 'n9', role: 'standby', interfaces: [] }));
    const bus = await open('n1');
    await passing(bus.start('house', { ...single, isSingle: false }), 5_000);
    expect(bus.registry.active('house')?.incarnation).toBe('n1.1');
  });

  it('the lowest nonce waits for a claimant that may have read before it, and gives way when that one takes the name', async () => {
    const { time, broker, open, passing } = scene();
    const higher = broker.connect({ clientId: 'n9' });
    const write = (topic: string, value: object) =>
      higher.publish(topic, JSON.stringify(value), { qos: 1, retain: true });
    await passing(write(topics.process('n9'), { pid: 9, host: 'there', version: '1' }));
    await passing(write(topics.plugin('house', 'n9.1'), { process: 'n9', role: 'standby', interfaces: [] }));
    const bus = await open('n1');
    const starting = bus.start('house', { ...single, isSingle: false });
    starting.catch(quiet);
    await time.advance(1_000);
    expect(bus.registry.active('house')).toBeUndefined();
    await passing(write(topics.plugin('house', 'n9.1'), { process: 'n9', role: 'active', interfaces: [] }));
    await expect(passing(starting)).rejects.toMatchObject({ code: 'PLUGIN_CLAIMED', facts: { pid: 9 } });
  });

  it('a managed object refuses a mutation of a caller that does not know who manages it (DESIGN §3)', async () => {
    const { time, broker, open, passing } = scene();
    const bus = await open('n1');
    const cattle = [lamp('cattle', 'group')];
    const proxies = [lamp('cattle', 'manager', 'group/cattle')];
    await passing(bus.start('group', { ...single, objects: () => cattle }));
    await passing(bus.start('mystack', { ...single, objects: () => proxies }));
    const stranger = rpcClient({
      ...{ connection: broker.connect({ clientId: 'stranger' }), topics, host: 'h', clock: time, log },
      newId: () => `stranger-${Math.random()}`,
    });
    const target = { plugin: 'group', object: 'cattle', incarnation: 'n1.1' };
    const call = (method: string) => passing(stranger.call(target, lampInterface, method, {}, testingContext()));
    await expect(call('light')).rejects.toMatchObject({ code: 'OBJECT_MANAGED', facts: { proxy: 'mystack/cattle' } });
    expect(await call('look')).toEqual({ by: 'group' });
  });

  it('a claimant with a higher nonce gives way to one that is claiming, and leaves nothing behind', async () => {
    const { broker, open, passing } = scene();
    const lower = broker.connect({ clientId: 'n0' });
    const write = (topic: string, value: object) =>
      lower.publish(topic, JSON.stringify(value), { qos: 1, retain: true });
    await passing(write(topics.process('n0'), { pid: 7, host: 'there', version: '1' }));
    await passing(write(topics.plugin('house', 'n0.1'), { process: 'n0', role: 'standby', interfaces: [] }));
    const bus = await open('n1');
    await expect(passing(bus.start('house', { ...single, isSingle: false }), 5_000)).rejects.toMatchObject({
      code: 'PLUGIN_CLAIMED',
      facts: { host: 'there', pid: 7 },
    });
    expect([...broker.retained().keys()].filter((topic) => topic.includes('/n1.'))).toEqual([]);
  });
});
