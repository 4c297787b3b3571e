import { type Log, pluginObject, testingContext } from '@infrakit/spi';
import { expect, test } from 'vitest';
import { openBus } from '../bus.ts';
import type { Connection } from '../connection/connection.ts';
import { memoryBroker } from '../connection/memory-broker.ts';
import { lampInterface } from '../contract/bus-scene.ts';
import { virtualTime } from '../virtual-time.ts';

const quiet = (): void => {};
const log: Log = { debug: quiet, info: quiet, warn: quiet, error: quiet };

/** A caller, and a server that takes calls and never answers them. */
const scene = async (isLiving: (pid: number) => boolean = () => true) => {
  const time = virtualTime();
  const broker = memoryBroker({ after: time.after, log });
  const connections = new Map<string, Connection>();
  let ids = 0;
  const open = (nonce: string) =>
    openBus({
      connect: (will) => {
        const connection = broker.connect({ clientId: nonce, will });
        connections.set(nonce, connection);
        return connection;
      },
      identity: { nonce, pid: 1, host: 'h', version: '1' },
      clock: time,
      random: () => 0,
      isLiving,
      newId: () => {
        ids += 1;
        return `${nonce}-${ids}`;
      },
      log,
    });
  const [caller, server] = [await open('n1'), await open('n2')];
  const taken = { count: 0 };
  const take = (): Promise<never> => {
    taken.count += 1;
    return new Promise(() => undefined);
  };
  const objects = [
    pluginObject({ object: '', description: lampInterface, implementation: { look: take, light: take } }),
  ];
  const starting = server.start('house', { isSingle: false, objects: () => objects });
  await time.advance(1_000);
  await starting;
  const call = () => {
    const outcome: { error?: unknown; atMs?: number } = {};
    caller.plugins
      .resolve(lampInterface, 'house')
      .light({}, testingContext({ timeoutMs: 60_000 }))
      .catch((error: unknown) => {
        outcome.error = error;
        outcome.atMs = time.nowMs();
      });
    return outcome;
  };
  return { time, broker, taken, call, crash: () => connections.get('n2')?.sever() };
};

test('Law 10: a call that a process took along when it died ends a second later, not at its deadline', async () => {
  const { time, taken, call, crash } = await scene();
  const outcome = call();
  await time.advance(100);
  expect(taken.count).toBe(1);
  const diedMs = time.nowMs();
  crash();
  await time.advance(900);
  expect(outcome.error).toBe(undefined);
  await time.advance(200);
  expect(outcome.error).toMatchObject({
    code: 'PLUGIN_UNAVAILABLE',
    message: 'the process of house ended before it answered Lamp.Light; whether it was done is not known',
  });
  expect((outcome.atMs ?? 0) - diedMs).toBeLessThan(1_100);
});

test('a broker that is away, and one that comes back without its memory, end no call of a process that lives', async () => {
  const { time, broker, call } = await scene();
  const outcome = call();
  await time.advance(100);
  broker.stop();
  await time.advance(10_000);
  broker.start({ keepRetained: false });
  await time.advance(10_000);
  expect(outcome.error).toBe(undefined);
});

test('a process whose connection fails for a moment keeps its calls', async () => {
  const { time, broker, call } = await scene();
  const outcome = call();
  await time.advance(100);
  broker.sever('n2');
  await time.advance(10_000);
  expect(outcome.error).toBe(undefined);
});

test('a process of this machine that died with its broker has lost its calls, though nobody can say so', async () => {
  let isDead = false;
  const { time, broker, call } = await scene(() => !isDead);
  const outcome = call();
  await time.advance(100);
  broker.stop();
  await time.advance(3_000);
  expect(outcome.error).toBe(undefined);
  isDead = true;
  await time.advance(300);
  expect(outcome.error).toMatchObject({ code: 'PLUGIN_UNAVAILABLE' });
});
