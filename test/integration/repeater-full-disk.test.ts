import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startMosquitto } from './mosquitto.ts';
import { collect, openScene, stream, until } from './repeater-scene.ts';

const disk = (...words: readonly string[]): void => {
  const { status, stderr } = spawnSync(words[0] ?? '', words.slice(1), { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${words.join(' ')}: ${stderr}`);
};

test('a buffer on a disk that is full leaves the rest to the source, and all of it arrives', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'repeater-disk-'));
  disk('mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder);
  try {
    await using source = await startMosquitto({ config: ['max_queued_messages 0'] });
    // Wider than what waits: mosquitto 2.0.11 may forget a message that comes just when a client returns.
    await using sink = await startMosquitto({
      config: ['max_queued_messages 0', 'max_inflight_messages 20000'],
      persistence: true,
    });
    await using got = await collect(sink.port);
    await using scene = await openScene({ folder, probeMs: 300 });
    const id = await scene.start({
      Source: source.url,
      Sink: { URL: sink.url },
      sourcetopic: 's/#',
      sinktopic: 'mirror/',
      QoS: 2,
      Buffer: { MaxBytes: 64 * 1024 * 1024, Policy: 'drop-newest' },
    });
    const status = () => scene.mirrors.reports().find(({ record }) => record.ID === id)?.status;
    await sink.stop();
    const load = stream(source.port, `s/${'x'.repeat(200)}`, { qos: 2, perSecond: 2_000 });
    await until('messages', () => load.sent() > 6_000, 30_000);
    const sent = await load.stop();
    await until('it is told', () => /disk is full/.test(status()?.lastError ?? '') || (status()?.lagMs ?? 0) > 5_000);
    expect(status()).toMatchObject({ dropped: 0 });
    expect(status()?.buffered?.messages).toBeLessThan(sent);
    await sink.start();
    const numbers = () => got.messages.map(({ payload }) => Number(payload));
    await until('the last one', () => numbers().includes(sent - 1), 60_000);
    expect(numbers()).toEqual(Array.from({ length: sent }, (_, n) => n));
  } finally {
    disk('umount', '-l', folder);
    await rm(folder, { recursive: true, force: true });
  }
}, 120_000);
