import { type ContractContext, pluginObject, realAfter, testingContext } from '@infrakit/spi';
import { describe, expect, it } from 'vitest';
import { memoryBroker } from '../connection/memory-broker.ts';
import { type Probe, probeInterface, type RpcScene, until, withRpc } from '../contract/rpc-scene.ts';
import { defaultRpcLimits } from './rpc-frame.ts';

const quiet = (): void => {};
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const ctx: ContractContext = { ...testingContext(), after: realAfter };

const onMemory = (act: (scene: RpcScene) => Promise<void>, changes = {}) => {
  const broker = memoryBroker({ after: realAfter, log });
  return withRpc({ connect: async (clientId) => broker.connect({ clientId }) }, ctx, act, changes);
};

describe('a server', () => {
  it('sees objects that come and go', () => {
    const implementation = { echo: async ({ value }: { value: unknown }) => ({ value }) } as unknown as Probe;
    let names = ['a'];
    let list = names.map((object) => pluginObject({ object, description: probeInterface, implementation }));
    return onMemory(
      async ({ handle }) => {
        await handle({ object: 'a' }).echo({ value: 1 }, ctx);
        names = ['b'];
        list = names.map((object) => pluginObject({ object, description: probeInterface, implementation }));
        await handle({ object: 'b' }).echo({ value: 1 }, ctx);
        await expect(handle({ object: 'a' }).echo({ value: 1 }, ctx)).rejects.toMatchObject({ code: 'OBJECT_UNKNOWN' });
      },
      { objects: () => list },
    );
  });

  it('that closes aborts the calls under way and takes no more', () =>
    onMemory(async ({ probe, server, world }) => {
      const call = probe.hang({}, { ...ctx, timeoutMs: 300 });
      const refused = expect(call).rejects.toMatchObject({ code: 'RPC_TIMEOUT' });
      await until(ctx, () => world.hanging.length === 1, 'the call');
      server.close();
      expect(world.hanging[0]?.aborted).toBe(true);
      await refused;
      await expect(probe.act({ name: 'a' }, { ...ctx, timeoutMs: 100 })).rejects.toMatchObject({ code: 'RPC_TIMEOUT' });
      expect(world.acts).toEqual([]);
    }));

  it('answers nobody but clients: a reply topic that is none is bad (DESIGN §3 topics)', () =>
    onMemory(async ({ publish, request, topics, server, clientConnection, world }) => {
      const heard: string[] = [];
      const all = clientConnection.subscribe('#', 1, ({ topic }) => heard.push(topic));
      await all.ready();
      for (const replyTo of [topics.state('a', 'b'), 'elsewhere', `${topics.prefix}/reply/a/b`, 'x/+']) {
        await publish('Probe.Act', request('act', { name: 'a' }, { replyTo }));
      }
      await until(ctx, () => server.badCount() === 4, 'four bad ones');
      expect(world.acts).toEqual([]);
      expect(new Set(heard)).toEqual(new Set([topics.rpc('probe', '', 'Probe.Act')]));
    }));

  it('holds little of a flood of pieces that never become messages, and answers meanwhile (memory is bounded)', () =>
    onMemory(
      async ({ publish, probe }) => {
        const before = process.memoryUsage().rss;
        const piece = Buffer.alloc(512 * 2 ** 10, 'x');
        for (let n = 0; n < 1_000; n += 1) {
          await publish('Probe.Act', Buffer.concat([Buffer.from(`{"chunk":"m${n}","n":0,"of":2}\n`), piece]));
        }
        expect(await probe.echo({ value: 1 }, ctx)).toEqual({ value: 1 });
        expect(process.memoryUsage().rss - before).toBeLessThan(250 * 2 ** 20);
      },
      { limits: { ...defaultRpcLimits, maxBytes: 32 * 2 ** 20, maxMessageBytes: 16 * 2 ** 20 } },
    ));

  it('refuses a call when too many are under way, and takes the next when they are done', () =>
    onMemory(
      async ({ probe, world }) => {
        const caller = new AbortController();
        const calls = [1, 2, 3].map(() => probe.hang({}, { ...ctx, signal: caller.signal }).catch(() => {}));
        await until(ctx, () => world.hanging.length === 3, 'all calls');
        await expect(probe.act({ name: 'a' }, ctx)).rejects.toMatchObject({ code: 'PLUGIN_UNAVAILABLE' });
        caller.abort();
        await Promise.all(calls);
        await until(ctx, () => world.hanging.every(({ aborted }) => aborted), 'the aborts');
        expect(await probe.act({ name: 'b' }, ctx)).toEqual({ count: 1 });
      },
      { maxRunning: 3 },
    ));
});
