import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load } from 'js-yaml';
import { expect, test, vi } from 'vitest';
import { requireProgram } from './programs.mjs';

const path = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url));
const composeFile = path('docker-compose.yml');

interface Service {
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
}

const services = (): Service[] => {
  const parsed = load(readFileSync(composeFile, 'utf8')) as { services: Record<string, Service> };
  return Object.values(parsed.services);
};

test('docker-compose accepts docker-compose.yml', () => {
  execFileSync(requireProgram('docker-compose'), ['-f', composeFile, 'config', '-q'], { encoding: 'utf8' });
});

test('every port of docker-compose.yml is published on loopback only', () => {
  const ports = services().flatMap((service) => service.ports ?? []);
  expect(ports.length).toBeGreaterThan(0);
  for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
});

test('every file that docker-compose.yml mounts exists', () => {
  const files = services().flatMap((service) => service.volumes?.filter((volume) => volume.startsWith('./')) ?? []);
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) readFileSync(path(file.split(':')[0] ?? ''));
});

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no TCP port');
  return address.port;
};

test('mosquitto runs with the configuration of docker-compose.yml and keeps a retained message for an anonymous client', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'infrakit-compose-'));
  const port = await freePort();
  const own = readFileSync(path('packages/host/mosquitto/mosquitto.conf'), 'utf8')
    .replace('listener 1883', `listener ${port} 127.0.0.1`)
    .replace('/mosquitto/data/', `${folder}/`);
  writeFileSync(join(folder, 'm.conf'), `user root\n${own}`);
  const broker = spawn(requireProgram('mosquitto'), ['-c', join(folder, 'm.conf')], { stdio: 'ignore' });
  try {
    const topic = ['-p', String(port), '-t', 'probe'];
    const publish = [...topic, '-r', '-q', '1', '-m', 'here'];
    await vi.waitFor(() => execFileSync(requireProgram('mosquitto_pub'), publish, { stdio: 'pipe' }), {
      timeout: 10_000,
      interval: 20,
    });
    const got = execFileSync(requireProgram('mosquitto_sub'), [...topic, '-C', '1', '-W', '5'], { encoding: 'utf8' });
    expect(got).toBe('here\n');
  } finally {
    if (broker.exitCode === null && broker.kill()) await once(broker, 'exit');
    rmSync(folder, { recursive: true });
  }
});
