import { topicsUnder } from '@infrakit/core';
import { type ContractContext, pluginObject, realAfter, testingContext } from '@infrakit/spi';
import { describe, expect, it } from 'vitest';
import { memoryBroker } from '../connection/memory-broker.ts';
import { type Probe, probeInterface, type RpcScene, until, withRpc } from '../contract/rpc-scene.ts';
import { rpcClient } from './rpc-client.ts';
import { defaultRpcLimits } from './rpc-frame.ts';
import { rpcProxy } from './rpc-proxy.ts';

const quiet = (): void => {};
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const ctx: ContractContext = { ...testingContext(), after: realAfter };
const clock = { nowMs: Date.now, after: realAfter };

const onMemory = (act: (scene: RpcScene, broker: ReturnType<typeof memoryBroker>) => Promise<void>, changes = {}) => {
  const broker = memoryBroker({ after: realAfter, log });
  return withRpc(
    { connect: async (clientId) => broker.connect({ clientId }) },
    ctx,
    (scene) => act(scene, broker),
    changes,
  );
};

const held = () => {
  let release = (): void => {};
  const until = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { until, release };
};

describe('a call', () => {
  it('that could not be sent is BUS_UNAVAILABLE at the deadline: nothing was done (Law 10)', async () => {
    const broker = memoryBroker({ after: realAfter, log });
    broker.stop();
    const connection = broker.connect({ clientId: 'c' });
    const client = rpcClient({ connection, topics: topicsUnder(), host: 'h', newId: () => '1', clock, log });
    const target = { plugin: 'p', object: '', incarnation: 'n1.1' };
    const call = client.call(target, probeInterface, 'echo', { value: 1 }, { ...ctx, timeoutMs: 100 });
    await expect(call).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
    client.close();
    await connection.close();
  });

  it('made while the broker is away is sent when it is back, and again if the server came back after it', () =>
    onMemory(async ({ probe, world }, broker) => {
      broker.stop();
      const call = probe.act({ name: 'a' }, ctx);
      broker.start({ keepRetained: false });
      expect(await call).toEqual({ count: 1 });
      expect(world.acts).toEqual(['a']);
    }));

  it('that is sent again for want of an answer acts once', () =>
    onMemory(async ({ probe, world, clientConnection, topics }) => {
      const { until: holding, release } = held();
      world.hold.until = holding;
      let requests = 0;
      const copies = clientConnection.subscribe(topics.filters.rpc('probe'), 1, () => {
        requests += 1;
      });
      await copies.ready();
      const call = probe.act({ name: 'a' }, ctx);
      await until(ctx, () => requests === 2, 'the second copy');
      release();
      expect(await call).toEqual({ count: 1 });
      expect(world.acts).toEqual(['a']);
    }));

  it('ends with BUS_UNAVAILABLE when its client is closed, and none begins afterwards', () =>
    onMemory(async ({ probe, client, world }) => {
      const call = probe.hang({}, ctx);
      const refused = expect(call).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
      await until(ctx, () => world.hanging.length === 1, 'the call');
      client.close();
      await refused;
      await expect(probe.echo({ value: 1 }, ctx)).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
    }));

  it('too large for one message is PAYLOAD_TOO_LARGE and not sent; so is its answer', () => {
    const limits = { ...defaultRpcLimits, maxMessageBytes: 10_000 };
    return onMemory(
      async ({ probe, client, clientConnection, topics, target, world }) => {
        await expect(probe.text({ length: 10_000 }, ctx)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
        client.close();
        const small = rpcClient({
          connection: clientConnection,
          topics,
          host: 'here',
          newId: () => 'x',
          clock,
          log,
          limits,
        });
        const call = small.call(target, probeInterface, 'act', { name: 'x'.repeat(10_000) }, ctx);
        await expect(call).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
        expect(world.acts).toEqual([]);
        small.close();
      },
      { limits },
    );
  });

  it('whose callee answers nonsense is RESULT_INVALID', () => {
    const implementation = { echo: async () => ({ worth: 1 }) } as unknown as Probe;
    const objects = () => [pluginObject({ object: '', description: probeInterface, implementation })];
    return onMemory(
      async ({ probe }) => {
        await expect(probe.echo({ value: 1 }, ctx)).rejects.toMatchObject({ code: 'RESULT_INVALID' });
        await expect(probe.act({ name: 'a' }, ctx)).rejects.toMatchObject({ code: 'METHOD_UNKNOWN' });
      },
      { objects },
    );
  });
});

describe('an answer', () => {
  it('given while the server is cut off reaches a client that is not (DESIGN §3 RPC)', () =>
    onMemory(async ({ probe, world, serverConnection, clientConnection, topics }, broker) => {
      const { until: holding, release } = held();
      let requests = 0;
      const copies = clientConnection.subscribe(topics.filters.rpc('probe'), 1, () => {
        requests += 1;
      });
      await copies.ready();
      world.hold.until = holding;
      const call = probe.act({ name: 'a' }, ctx);
      await until(ctx, () => world.acts.length === 1, 'the act');
      broker.sever(serverConnection.clientId);
      release();
      expect(await call).toEqual({ count: 1 });
      expect({ acts: world.acts, requests }).toEqual({ acts: ['a'], requests: 1 });
    }));

  it('to a caller that has given up disturbs nobody', () =>
    onMemory(async ({ probe, world, client }) => {
      const { until: holding, release } = held();
      world.hold.until = holding;
      const caller = new AbortController();
      const call = probe.act({ name: 'a' }, { ...ctx, signal: caller.signal });
      const refused = expect(call).rejects.toMatchObject({ code: 'RPC_CANCELLED' });
      await until(ctx, () => world.acts.length === 1, 'the act');
      caller.abort();
      await refused;
      release();
      expect(await probe.echo({ value: 1 }, ctx)).toEqual({ value: 1 });
      expect(client.badCount()).toBe(0);
    }));
});

describe('a proxy', () => {
  it('goes where it is told at each call: over the bus, in this process, or nowhere', () =>
    onMemory(async ({ client, target, world }) => {
      const local = { echo: async () => ({ value: 'local' }) } as unknown as Probe;
      let to: 'remote' | 'local' | 'nowhere' = 'remote';
      const asked: boolean[] = [];
      const probe = rpcProxy(client, probeInterface, ({ mutates }) => {
        asked.push(mutates);
        if (to === 'nowhere') throw new RangeError('nobody');
        return to === 'remote' ? { kind: 'remote', target } : { kind: 'local', implementation: local };
      });
      await probe.act({ name: 'a' }, ctx);
      expect(world.acts).toEqual(['a']);
      to = 'local';
      const answer = await probe.echo({ value: 1 }, ctx);
      expect(answer).toEqual({ value: 'local' });
      expect(Object.isFrozen(answer)).toBe(true);
      to = 'nowhere';
      await expect(probe.echo({ value: 1 }, ctx)).rejects.toThrow('nobody');
      expect(asked).toEqual([true, false, false]);
    }));
});
