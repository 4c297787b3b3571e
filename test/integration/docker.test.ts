import type { Event } from '@infrakit/core';
import { type InstanceSubject, instanceContract } from '@infrakit/spi';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contractTests } from '../contract.ts';
import { type ContainersPlugin, ctx, idsOf, spec, startContainers, until } from './containers.ts';
import { type Podman, startPodman } from './podman.ts';

let podman: Podman;

beforeAll(async () => {
  podman = await startPodman();
}, 60_000);
afterAll(() => podman[Symbol.asyncDispose](), 60_000);

const start = (name: string, events: Event[] = []): Promise<ContainersPlugin> =>
  startContainers({ name, options: { Host: podman.host }, events });

/** A container that needs no network and ends at once when it is told to. */
const properties = (n: number) => ({
  Image: podman.image,
  Command: ['/bin/sleep', '600'],
  Env: { NUMBER: String(n) },
  Networks: ['none'],
  StopTimeout: '0s',
});

let endpoints = 0;

contractTests(instanceContract, async (): Promise<InstanceSubject & AsyncDisposable> => {
  endpoints += 1;
  const name = `docker${endpoints}`;
  let started = await start(name);
  return {
    get instance() {
      return started.instance;
    },
    properties,
    describedProperties: properties,
    invalidProperties: { Image: '', Ports: [{ ContainerPort: 0 }] },
    keepsLogicalId: true,
    isRelabelRefused: true,
    hasIdempotencyKeys: true,
    takesTerms: false,
    isEventuallyConsistent: false,
    longList: 4,
    restart: async () => {
      await started.plugin.stop();
      started = await start(name);
    },
    [Symbol.asyncDispose]: () => started.plugin.stop(),
  };
});

describe('containers by the real engine', () => {
  test('every fault of bad properties at once, the secret itself refused', async () => {
    const { instance, plugin } = await start('faults');
    const bad = { Image: '', Ports: [{ ContainerPort: 0 }], Registry: { Username: 'u', Password: 'secret' }, Nope: 1 };
    const refused = instance.validate({ properties: bad }, ctx);
    await expect(refused).rejects.toThrow(/Image.*Ports.*Registry\.Password.*not the secret itself.*Nope/s);
    await plugin.stop();
  });

  test('what is asked for is what runs: command, environment, labels, limits, ports', async () => {
    const { instance, plugin } = await start('made');
    const asked = {
      ...properties(7),
      Labels: { colour: 'blue' },
      Resources: { Memory: '64m', PidsLimit: 50 },
    };
    const { id } = await instance.provision({ spec: spec(asked, { tier: 'web' }) }, ctx);
    const [seen] = JSON.parse(podman.run('inspect', id));
    expect(seen.Config.Env).toContain('NUMBER=7');
    expect(seen.Config.Labels).toMatchObject({ colour: 'blue', 'infrakit.tag.tier': 'web' });
    expect(seen.HostConfig.Memory).toBe(64 * 1024 * 1024);
    await instance.destroy({ id, context: { Reason: 'terminate' } }, ctx);
    expect(podman.run('ps', '-a', '--format', '{{.ID}}', '--filter', `id=${id}`)).toBe('');
    await plugin.stop();
  }, 30_000);

  test('a container that dies is told within a second, and is no instance any more', async () => {
    const events: Event[] = [];
    const { instance, plugin } = await start('dying', events);
    await until(() => events.length > 0);
    const { id } = await instance.provision({ spec: spec(properties(1)) }, ctx);
    const before = events.length;
    podman.run('kill', id);
    await until(() =>
      events.slice(before).some(({ ID, Message }) => (ID === id && Message === 'died') || Message === 'die'),
    );
    await until(async () => (await idsOf(instance)).length === 0);
    await plugin.stop();
  }, 30_000);

  test('a foreign container stays as it was, and another endpoint sees none of ours', async () => {
    const foreign = podman
      .run('run', '-d', '--network', 'none', '--label', 'mine=1', podman.image, '/bin/sleep', '600')
      .trim();
    const before = podman.run('inspect', '--format', '{{json .Config}}', foreign);
    const { instance, plugin } = await start('ours');
    const other = await start('theirs');
    const { id } = await instance.provision({ spec: spec(properties(1)) }, ctx);
    expect(await idsOf(other.instance)).toEqual([]);
    await expect(instance.destroy({ id: foreign, context: { Reason: 'terminate' } }, ctx)).rejects.toMatchObject({
      code: 'INSTANCE_NOT_FOUND',
    });
    await instance.destroy({ id, context: { Reason: 'terminate' } }, ctx);
    expect(podman.run('inspect', '--format', '{{json .Config}}', foreign)).toBe(before);
    await plugin.stop();
    await other.plugin.stop();
    podman.run('rm', '-f', '-t', '0', foreign);
  }, 30_000);

  test('an engine that is away is an error, never an empty list, and comes back by itself', async () => {
    const { instance, plugin } = await start('away');
    const { id } = await instance.provision({ spec: spec(properties(1)) }, ctx);
    await podman.stop('SIGKILL');
    await expect(idsOf(instance)).rejects.toMatchObject({ code: 'PLUGIN_UNAVAILABLE' });
    await podman.start();
    expect(await idsOf(instance)).toEqual([id]);
    await instance.destroy({ id, context: { Reason: 'terminate' } }, ctx);
    await plugin.stop();
  }, 30_000);

  test('Law 7: a name that a killed engine left to half a container does not block its key', async () => {
    const { instance, plugin } = await start('half');
    const keyed = { ...ctx, idempotencyKey: 'one' };
    const probe = await instance.provision({ spec: spec(properties(1)) }, keyed);
    const name = podman.run('inspect', '--format', '{{.Name}}', probe.id).trim();
    await instance.destroy({ id: probe.id, context: { Reason: 'terminate' } }, ctx);
    await podman.leaveHalfMade(name);
    expect(podman.run('ps', '--all', '--external', '--format', '{{.Names}}')).toContain(name);
    const made = await Promise.all([1, 2, 3].map(() => instance.provision({ spec: spec(properties(1)) }, keyed)));
    expect(await idsOf(instance)).toEqual([made[0]?.id]);
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    await instance.destroy({ id: made[0]?.id ?? '', context: { Reason: 'terminate' } }, ctx);
    await plugin.stop();
  }, 30_000);

  test('a name that somebody else uses is told, and his container stays', async () => {
    const { instance, plugin } = await start('taken');
    const keyed = { ...ctx, idempotencyKey: 'one' };
    const probe = await instance.provision({ spec: spec(properties(1)) }, keyed);
    const name = podman.run('inspect', '--format', '{{.Name}}', probe.id).trim();
    await instance.destroy({ id: probe.id, context: { Reason: 'terminate' } }, ctx);
    const foreign = podman.run('create', '--name', name, '--network', 'none', podman.image, '/bin/sleep', '600').trim();
    await expect(instance.provision({ spec: spec(properties(1)) }, keyed)).rejects.toThrow(
      /taken by container .* not ours/,
    );
    expect(podman.run('ps', '--all', '--quiet', '--no-trunc', '--filter', `id=${foreign}`).trim()).toBe(foreign);
    podman.run('rm', '-f', '-t', '0', foreign);
    await plugin.stop();
  }, 30_000);
});
