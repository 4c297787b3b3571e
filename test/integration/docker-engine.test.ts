import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type Server } from 'node:tls';
import { dockerDefinition } from '@infrakit/plugin-docker';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeCertificates } from './certificates.ts';
import { ctx, idsOf, spec, startContainers, until } from './containers.ts';
import { type Podman, startPodman } from './podman.ts';

let podman: Podman;
let folder = '';

beforeAll(async () => {
  [podman, folder] = await Promise.all([startPodman(), mkdtemp(join(tmpdir(), 'infrakit-docker-'))]);
}, 60_000);
afterAll(async () => {
  await podman[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
}, 60_000);

const sleeper = (more: object = {}) => ({
  Image: podman.image,
  Command: ['/bin/sleep', '600'],
  Networks: ['none'],
  StopTimeout: '0s',
  ...more,
});

const inspect = (id: string) => JSON.parse(podman.run('inspect', id))[0];

/** TLS in front of the engine's socket, for clients with a certificate. */
const tlsDoor = async (pem: Awaited<ReturnType<typeof makeCertificates>>): Promise<Server & AsyncDisposable> => {
  const [ca, cert, key] = await Promise.all([pem.ca, pem.server.cert, pem.server.key].map((file) => readFile(file)));
  const options = { ca: ca ?? '', cert: cert ?? '', key: key ?? '', requestCert: true, rejectUnauthorized: true };
  const open = new Set<{ destroy(): void }>();
  const server = createServer(options, (client) => {
    const engine = connect(podman.host.slice('unix://'.length));
    open.add(client).add(engine);
    client.on('error', () => engine.destroy()).pipe(engine);
    engine.on('error', () => client.destroy()).pipe(client);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const close = async (): Promise<void> => {
    for (const socket of open) socket.destroy();
    await once(server.close(), 'close');
  };
  return Object.assign(server, { [Symbol.asyncDispose]: close });
};

describe('the engine behind TCP and TLS', () => {
  test('a client with a certificate works with it, by the folder that Docker has; one without is refused', async () => {
    const pem = await makeCertificates(folder);
    await using door = await tlsDoor(pem);
    const certs = join(folder, 'certs');
    await mkdir(certs);
    await copyFile(pem.ca, join(certs, 'ca.pem'));
    await copyFile(pem.client.cert, join(certs, 'cert.pem'));
    await copyFile(pem.client.key, join(certs, 'key.pem'));
    const Host = `tcp://127.0.0.1:${(door.address() as AddressInfo).port}`;

    const byFolder = dockerDefinition.environment?.INFRAKIT_DOCKER_CERT_PATH?.(certs);
    const { instance, plugin } = await startContainers({ name: 'tls', options: { Host, ...byFolder } });
    const { id } = await instance.provision({ spec: spec(sleeper()) }, ctx);
    expect(await idsOf(instance)).toEqual([id]);
    await instance.destroy({ id, context: { Reason: 'terminate' } }, ctx);
    await plugin.stop();

    const nobody = await startContainers({ name: 'nobody', options: { Host, TLS: { CA: pem.ca } } });
    await expect(idsOf(nobody.instance)).rejects.toMatchObject({ code: 'PLUGIN_UNAVAILABLE' });
    await nobody.plugin.stop();
  }, 30_000);
});

describe('what a container is made with, as the engine then says', () => {
  test('networks, mounts, limits, ports, health check and the address of the first network', async () => {
    podman.run('network', 'create', 'one');
    podman.run('network', 'create', 'two');
    const { instance, plugin } = await startContainers({ name: 'made', options: { Host: podman.host } });
    const asked = sleeper({
      Networks: ['one', 'two'],
      User: '1000:1000',
      WorkingDir: '/tmp',
      Mounts: [
        { Type: 'bind', Source: folder, Target: '/bound', ReadOnly: true },
        { Type: 'volume', Source: 'kept', Target: '/kept' },
        { Type: 'tmpfs', Target: '/scratch' },
      ],
      Ports: [{ ContainerPort: 8080 }, { ContainerPort: 53, Protocol: 'udp' }],
      Ulimits: [
        { Name: 'nofile', Soft: 512, Hard: 600 },
        { Name: 'nproc', Soft: 1_024, Hard: 1_024 },
      ],
      Resources: { Memory: '32m', CPUs: 0.5, PidsLimit: 20 },
      RestartPolicy: 'on-failure',
      HealthCheck: { Test: ['CMD', '/bin/true'], Interval: '1h' },
    });
    const { id } = await instance.provision({ spec: { ...spec(asked), Init: 'hello' } }, ctx);
    const { Config, HostConfig, Mounts, NetworkSettings } = inspect(id);
    expect(Config).toMatchObject({ User: '1000:1000', WorkingDir: '/tmp' });
    expect(Config.Env).toContain('INFRAKIT_INIT=hello');
    expect(HostConfig).toMatchObject({ Memory: 33_554_432, NanoCpus: 5e8, PidsLimit: 20, AutoRemove: false });
    expect(HostConfig.RestartPolicy.Name).toBe('on-failure');
    expect(JSON.stringify(HostConfig.Ulimits)).toMatch(/"Soft":512.*"Hard":600|"Hard":600.*"Soft":512/);
    expect(Mounts.map(({ Destination }: { Destination: string }) => Destination)).toEqual(
      expect.arrayContaining(['/bound', '/kept']),
    );
    expect(podman.run('exec', id, '/bin/cat', '/proc/mounts')).toMatch(/\/scratch tmpfs/);
    expect(Object.keys(NetworkSettings.Networks).sort()).toEqual(['one', 'two']);
    expect(NetworkSettings.Ports['8080/tcp'][0].HostIp).toBe('127.0.0.1');
    const listing = await instance.describe({ tags: {}, properties: true }, ctx);
    expect(listing).toMatchObject({
      instances: [{ ID: id, Address: NetworkSettings.Networks.one.IPAddress, Properties: asked }],
    });

    const before = listing.digest;
    podman.run('healthcheck', 'run', id);
    await until(async () => {
      const now = await instance.describe({ tags: {}, properties: true, digest: before }, ctx);
      return now.kind === 'instances' && now.instances[0]?.State === 'running (healthy)';
    });
    await instance.destroy({ id, context: { Reason: 'terminate' } }, ctx);
    await plugin.stop();
  }, 30_000);
});

describe('what is left behind', () => {
  test('a container that was made and never started is removed; one that runs stays', async () => {
    const label = ['--label', 'infrakit.docker.endpoint=tidy', '--network', 'none'];
    const left = podman.run('create', ...label, podman.image, '/bin/sleep', '600').trim();
    const runs = podman.run('run', '-d', '--stop-timeout', '0', ...label, podman.image, '/bin/sleep', '600').trim();
    const options = { Host: podman.host, CleanUpAfter: '200ms' };
    const { instance, plugin } = await startContainers({ name: 'tidy', options });
    expect(await idsOf(instance)).toEqual([runs]);
    await until(() => !podman.run('ps', '--all', '--quiet', '--no-trunc').includes(left));
    expect(await idsOf(instance)).toEqual([runs]);
    // Labels that were written by hand do not say how it is stopped.
    await instance.destroy({ id: runs, context: { Reason: 'terminate' } }, ctx);
    expect(await idsOf(instance)).toEqual([]);
    await plugin.stop();
  }, 30_000);
});
