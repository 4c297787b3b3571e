import { once } from 'node:events';
import { createServer, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { testingContext } from '@infrakit/spi';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ctx, idsOf, spec, startContainers, until } from './containers.ts';
import { type Podman, startPodman } from './podman.ts';

let podman: Podman;

beforeAll(async () => {
  podman = await startPodman();
}, 60_000);
afterAll(() => podman[Symbol.asyncDispose](), 60_000);

const sleeper = (more: object = {}) => ({
  Image: podman.image,
  Command: ['/bin/sleep', '600'],
  Networks: ['none'],
  StopTimeout: '0s',
  ...more,
});

/** What becomes of a call: it goes `through`, or it is `taken`; `mute` is a call that gets through while its answer does not. */
type Fate = 'through' | 'taken' | 'mute';
type Answer = (path: string, response: ServerResponse) => Fate;

/** Stands before podman's service and decides about each call. */
const doorWith = async (
  answer: Answer,
): Promise<{ readonly Host: string; readonly server: Server } & AsyncDisposable> => {
  const socketPath = podman.host.slice('unix://'.length);
  const server = createServer((asked, response) => {
    const { url: path = '', method = 'GET', headers } = asked;
    const fate = answer(`${method} ${path}`, response);
    if (fate === 'taken') return;
    const through = request({ socketPath, path, method, headers }, (told) => {
      if (fate === 'mute') return;
      response.writeHead(told.statusCode ?? 500, told.headers);
      told.pipe(response);
    });
    through.on('error', () => response.destroy());
    if (fate === 'through') response.on('close', () => through.destroy());
    asked.pipe(through);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    Host: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    server,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
};

const openConnections = (server: Server): Promise<number> =>
  new Promise((resolve) => server.getConnections((_, count) => resolve(count)));

describe('issue 7, "an engine that is away is `unknown`, never empty"', () => {
  test.each([
    ['an error', 500, '{"message":"the disk is full"}', /the disk is full/],
    ['something that is no JSON', 200, '<html>hello</html>', /gives no list of containers/],
    ['something that is no list', 200, '{}', /gives no list of containers/],
    ['a list of nothing', 200, '[null, 1]', /gives no list of containers/],
  ])('an engine that answers %s', async (_, code, text, sentence) => {
    await using door = await doorWith((_path, response) => {
      response.writeHead(code, { 'content-type': 'application/json' }).end(text);
      return 'taken';
    });
    const { instance, plugin } = await startContainers({ name: 'odd', options: { Host: door.Host } });
    await expect(idsOf(instance)).rejects.toThrow(sentence);
    await plugin.stop();
  });

  test('one that takes calls and never answers: each ends at its deadline and leaves no connection', async () => {
    await using door = await doorWith((path) => (path.includes('/containers/json') ? 'taken' : 'through'));
    const { instance, plugin } = await startContainers({ name: 'mute', options: { Host: door.Host } });
    await until(async () => (await openConnections(door.server)) === 1);
    for (let n = 0; n < 3; n += 1) {
      const abort = new AbortController();
      const asked = instance.describe({ tags: {}, properties: false }, { ...testingContext(), signal: abort.signal });
      await until(async () => (await openConnections(door.server)) === 2);
      abort.abort();
      await expect(asked).rejects.toMatchObject({ code: 'RPC_CANCELLED' });
      await until(async () => (await openConnections(door.server)) === 1);
    }
    await plugin.stop();
  }, 30_000);
});

describe('issue 7, "describe with … state, health and a digest of what is really there"', () => {
  test('a container that is paused by hand is still a member, and says so', async () => {
    const { instance, plugin } = await startContainers({ name: 'paused', options: { Host: podman.host } });
    const { id } = await instance.provision({ spec: spec(sleeper()) }, ctx);
    podman.run('pause', id);
    expect(await instance.describe({ tags: {}, properties: false }, ctx)).toMatchObject({
      instances: [{ ID: id, State: 'paused' }],
    });
    await instance.destroy({ id, context: { Reason: 'terminate' } }, ctx);
    expect(podman.run('ps', '--all', '--quiet', '--filter', 'label=infrakit.docker.endpoint=paused').trim()).toBe('');
    await plugin.stop();
  }, 30_000);

  test('one that is renamed by hand keeps its id, and its key', async () => {
    const { instance, plugin } = await startContainers({ name: 'renamed', options: { Host: podman.host } });
    const keyed = { ...ctx, idempotencyKey: 'one' };
    const { id } = await instance.provision({ spec: spec(sleeper()) }, keyed);
    podman.run('rename', id, 'by-hand');
    expect(await instance.provision({ spec: spec(sleeper()) }, keyed)).toEqual({ id });
    expect(await idsOf(instance)).toEqual([id]);
    await instance.destroy({ id, context: { Reason: 'terminate' } }, ctx);
    await plugin.stop();
  }, 30_000);

  test('one that is removed by hand between the list and the look at its health is left out, the others are told', async () => {
    let victim = '';
    await using door = await doorWith((path) => {
      if (victim !== '' && path.includes(`/containers/${victim}/json`)) podman.run('rm', '-f', '-t', '0', victim);
      return 'through';
    });
    const { instance, plugin } = await startContainers({ name: 'gone', options: { Host: door.Host } });
    const checked = sleeper({ HealthCheck: { Test: ['CMD', '/bin/true'], Interval: '1h' } });
    const { id: stays } = await instance.provision({ spec: spec(checked) }, ctx);
    const { id: goes } = await instance.provision({ spec: spec(checked) }, ctx);
    victim = goes;
    expect(await idsOf(instance)).toEqual([stays]);
    await instance.destroy({ id: stays, context: { Reason: 'terminate' } }, ctx);
    await plugin.stop();
  }, 30_000);
});

describe('issue 7, "nothing orphaned, nothing twice"', () => {
  test.each([
    ['never gets', 'taken'],
    ['does and never tells', 'mute'],
  ] as const)(
    'a create that the engine %s: the key is free again as soon as the caller gives up, and has one container',
    async (_, fate) => {
      let creates = 0;
      await using door = await doorWith((path) => {
        if (!path.startsWith('POST') || !path.includes('/containers/create')) return 'through';
        creates += 1;
        return creates === 1 ? fate : 'through';
      });
      const name = `hangs-${fate}`;
      const { instance, plugin } = await startContainers({ name, options: { Host: door.Host, CleanUpAfter: '200ms' } });
      const abort = new AbortController();
      const keyed = { ...ctx, idempotencyKey: 'one' };
      const asked = instance.provision({ spec: spec(sleeper()) }, { ...keyed, signal: abort.signal });
      await until(() => creates === 1);
      abort.abort();
      await expect(asked).rejects.toMatchObject({ code: 'RPC_CANCELLED' });
      const { id } = await instance.provision({ spec: spec(sleeper()) }, keyed);
      const label = `label=infrakit.docker.endpoint=${name}`;
      await until(() => podman.run('ps', '--all', '--quiet', '--no-trunc', '--filter', label).trim() === id);
      expect(await idsOf(instance)).toEqual([id]);
      await instance.destroy({ id, context: { Reason: 'terminate' } }, ctx);
      await plugin.stop();
    },
    30_000,
  );

  test('port taken: the words of the engine, and nothing is left', async () => {
    await using busy = await doorWith(() => 'through');
    const HostPort = Number(new URL(busy.Host.replace('tcp:', 'http:')).port);
    const { instance, plugin } = await startContainers({ name: 'port', options: { Host: podman.host } });
    const taken = sleeper({ Networks: [], Ports: [{ ContainerPort: 80, HostPort }] });
    await expect(instance.provision({ spec: spec(taken) }, ctx)).rejects.toThrow(/address already in use/i);
    const all = podman.run('ps', '--all', '--external', '--quiet', '--filter', 'label=infrakit.docker.endpoint=port');
    expect(all.trim()).toBe('');
    await plugin.stop();
  }, 30_000);
});
