import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startAwakeTime } from './awake-time.ts';
import { startBlackHole } from './black-hole.ts';
import { startHostileBroker } from './hostile-broker.ts';
import { startMosquitto } from './mosquitto.ts';
import { startNetwork } from './network.ts';
import { collect, openScene, publish, type Scene, until } from './repeater-scene.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'repeater-hostile-'));
});
afterEach(() => rm(folder, { recursive: true, maxRetries: 5 }));

const slowMs = 1_000;

const between = (source: { readonly port: number }, sink: { readonly port: number }) => ({
  Source: `mqtt://127.0.0.1:${source.port}`,
  Sink: { URL: `127.0.0.1:${sink.port}` },
  Buffer: { MaxBytes: 1_048_576 },
  sourcetopic: 's/#',
});

/** Adds a mirror that need not come to work. */
const begin = async ({ mirrors }: Scene, properties: object): Promise<string> => {
  const spec = { Properties: properties, Tags: {}, Init: '', LogicalID: null, Attachments: null };
  const ctx = { signal: AbortSignal.timeout(30_000), timeoutMs: 30_000 };
  return (await mirrors.instance.provision({ spec }, ctx)).id;
};

test('behind a buffer too a sink that accepts and never answers is unhealthy within two probes, and gets all when it recovers', async () => {
  await using source = await startMosquitto();
  await using sink = await startMosquitto();
  await using hole = await startBlackHole();
  let target = hole.port;
  await using network = await startNetwork(() => target);
  await using scene = await openScene({ probeMs: slowMs, folder });
  await using got = await collect(sink.port);
  using began = startAwakeTime();
  const id = await begin(scene, between(source, network));
  await until('it shows', () => scene.state(id) === 'unhealthy');
  expect(began.ms()).toBeLessThan(2 * slowMs + 300);
  for (let n = 0; n < 10; n += 1) await publish(source.port, 's/x', `${n}`);
  target = sink.port;
  await until('it is well', () => scene.state(id) === 'active');
  await until('all', () => got.messages.length === 10);

  network.freeze();
  using frozen = startAwakeTime();
  await until('it shows again', () => scene.state(id) === 'unhealthy');
  expect(frozen.ms()).toBeLessThan(2 * slowMs + 300);
  network.thaw();
  await until('it is well again', () => scene.state(id) === 'active');
}, 120_000);

test('behind a buffer too a sink that greets and answers no ping is not taken for well each time it greets', async () => {
  await using source = await startMosquitto();
  await using sink = await startHostileBroker({ isMute: true });
  await using scene = await openScene({ probeMs: 200, folder });
  const id = await begin(scene, between(source, sink));
  await until('it was given up', () => sink.connections() > 1);
  const seen = new Set<string | undefined>();
  await until('some more tries', () => {
    seen.add(scene.state(id));
    return sink.connections() > 3;
  });
  expect([...seen]).toEqual(['unhealthy']);
});
