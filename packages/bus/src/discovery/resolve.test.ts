import { testingContext } from '@infrakit/spi';
import { describe, expect, it } from 'vitest';
import { type Bus, openBus } from '../bus.ts';
import { memoryBroker } from '../connection/memory-broker.ts';
import { lamp, lampInterface } from '../contract/bus-scene.ts';
import { virtualTime } from '../virtual-time.ts';
import type { PluginRole } from './advertise.ts';

const quiet = (): void => {};
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };

const scene = () => {
  const time = virtualTime();
  const broker = memoryBroker({ after: time.after, log });
  const open = (nonce: string) =>
    openBus({
      connect: (will) => broker.connect({ clientId: nonce, will }),
      identity: { nonce, pid: 1, host: 'h', version: '1' },
      clock: time,
      random: () => 0,
      newId: () => 'id',
      log,
    });
  return { time, broker, open };
};

/** How a call ends, once time has passed. */
const outcomeOf = (call: Promise<unknown>): { value?: unknown } => {
  const outcome: { value?: unknown } = {};
  call.then(
    (value) => {
      outcome.value = value;
    },
    (error) => {
      outcome.value = error.code;
    },
  );
  return outcome;
};

describe('pluginsPort (Plugins port)', () => {
  it('an unknown name is told at once when discovery is complete (GP-S5)', async () => {
    const { time, open } = scene();
    const bus = await open('n1');
    await time.advance(1_000);
    const outcome = outcomeOf(bus.plugins.resolve(lampInterface, 'house').look({}, testingContext()));
    await time.advance(0);
    expect(outcome.value).toBe('PLUGIN_UNKNOWN');
  });

  it('before that a call waits for discovery, two seconds at most and never past its deadline (Law 10)', async () => {
    const { time, broker, open } = scene();
    broker.stop();
    const bus = await open('n1');
    const lampOf = bus.plugins.resolve(lampInterface, 'house');
    const long = outcomeOf(lampOf.look({}, testingContext({ timeoutMs: 60_000 })));
    const short = outcomeOf(lampOf.look({}, testingContext({ timeoutMs: 500 })));
    const cancelled = new AbortController();
    const given = outcomeOf(lampOf.look({}, testingContext({ signal: cancelled.signal })));
    cancelled.abort();
    await time.advance(600);
    expect([long.value, short.value, given.value]).toEqual([undefined, 'BUS_UNAVAILABLE', 'RPC_CANCELLED']);
    await time.advance(1_500);
    expect(long.value).toBe('BUS_UNAVAILABLE');
  });

  it('while nobody leads a call waits for who comes to lead, two seconds at most and never past its deadline', async () => {
    const { time, open } = scene();
    const [bus, server] = [await open('n1'), await open('n2')];
    let role: PluginRole = { role: 'standby' };
    const objects = [lamp('', 'leader')];
    const starting = server.start('group', { isSingle: true, objects: () => objects, role: () => role });
    await time.advance(1_000);
    const running = await starting;
    const group = bus.plugins.resolve(lampInterface, 'group');
    const short = outcomeOf(group.light({}, testingContext({ timeoutMs: 500 })));
    const long = outcomeOf(group.light({}, testingContext({ timeoutMs: 60_000 })));
    await time.advance(600);
    expect([short.value, long.value]).toEqual(['LEADER_NOT', undefined]);
    await time.advance(1_500);
    expect(long.value).toBe('LEADER_NOT');
    const patient = outcomeOf(group.light({}, testingContext()));
    const cancelled = new AbortController();
    const given = outcomeOf(group.light({}, testingContext({ signal: cancelled.signal })));
    await time.advance(500);
    cancelled.abort();
    await time.advance(10);
    expect(given.value).toBe('LEADER_NOT');
    role = { role: 'active', term: 1 };
    running.objectsChanged();
    await time.advance(100);
    expect(patient.value).toEqual({ by: 'leader' });
  });

  it('a leader that steps down between look and call: the next one gets the call', async () => {
    const { time, open } = scene();
    const [bus, first, second] = [await open('n1'), await open('n2'), await open('n3')];
    const roles: Record<string, PluginRole> = { n2: { role: 'active', term: 1 }, n3: { role: 'standby' } };
    const start = async (nonce: string, at: Bus) => {
      const objects = [lamp('', nonce)];
      const starting = at.start('group', {
        isSingle: true,
        objects: () => objects,
        role: () => roles[nonce] ?? { role: 'standby' },
      });
      await time.advance(1_000);
      return starting;
    };
    const [one, two] = [await start('n2', first), await start('n3', second)];
    // It answers no more calls, and the bus does not know yet.
    roles.n2 = { role: 'standby' };
    const outcome = outcomeOf(bus.plugins.resolve(lampInterface, 'group').light({}, testingContext()));
    await time.advance(100);
    expect(outcome.value).toBe(undefined);
    roles.n3 = { role: 'active', term: 2 };
    one.objectsChanged();
    two.objectsChanged();
    await time.advance(300);
    expect(outcome.value).toEqual({ by: 'n3' });
  });

  it('a plugin of this process answers without a broker, with frozen results', async () => {
    const { time, broker, open } = scene();
    const bus = await open('n1');
    const objects = [lamp('', 'me')];
    const starting = bus.start('house', { isSingle: false, objects: () => objects });
    await time.advance(1_000);
    await starting;
    broker.stop();
    await time.advance(1_000);
    const result = await bus.plugins.resolve(lampInterface, 'house').light({}, testingContext());
    expect(result).toEqual({ by: 'me' });
    expect(Object.isFrozen(result)).toBe(true);
  });

  it('a handle finds its target anew at each call', async () => {
    const { time, open } = scene();
    const [bus, server] = [await open('n1'), await open('n2')];
    await time.advance(1_000);
    const house = bus.plugins.resolve(lampInterface, 'house');
    const call = async (): Promise<unknown> => {
      const outcome = outcomeOf(house.look({}, testingContext()));
      await time.advance(100);
      return outcome.value;
    };
    expect(await call()).toBe('PLUGIN_UNKNOWN');
    let objects = [lamp('', 'first')];
    const starting = server.start('house', { isSingle: false, objects: () => objects });
    await time.advance(1_000);
    const running = await starting;
    expect(await call()).toEqual({ by: 'first' });
    objects = [lamp('', 'second')];
    running.objectsChanged();
    expect(await call()).toEqual({ by: 'second' });
    const stopping = running.stop();
    await time.advance(1_000);
    await stopping;
    expect(await call()).toBe('PLUGIN_UNKNOWN');
  });
});
