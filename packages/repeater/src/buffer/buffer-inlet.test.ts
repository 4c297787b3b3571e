import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'mqtt-packet';
import { expect, test } from 'vitest';
import { recordingLog } from '../../../../test/host/recording-log.ts';
import { bufferInlet } from './buffer-inlet.ts';
import { openDiskBuffer } from './disk-buffer.ts';
import { maxUnacknowledged } from './intake-window.ts';

test('QoS 1: of a source that waits for nothing no more is taken than may come twice after a kill (issue 6)', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'buffer-inlet-'));
  const disk = await openDiskBuffer({
    folder,
    fileBytes: () => 1_000_000,
    log: recordingLog().log,
    freed: () => undefined,
    failed: () => undefined,
  });
  let saved: (() => void)[] = [];
  let taken = 0;
  const add = (): Promise<void> => {
    taken += 1;
    return new Promise((resolve) => saved.push(resolve));
  };
  const { stream } = bufferInlet({
    buffer: { ...disk, add },
    share: { admit: () => true, free: () => undefined, hold: () => undefined, leave: () => undefined },
    room: { takes: () => true, wait: async () => undefined },
    nowMs: () => 1,
    dropped: () => undefined,
  });
  let acknowledged = 0;
  stream.on('data', (chunk: Buffer) => {
    acknowledged += chunk.length / 4;
  });
  const frame = (n: number): Buffer =>
    generate({ cmd: 'publish', topic: 'a', payload: '', qos: 1, messageId: n + 1, dup: false, retain: false });
  const count = 3 * maxUnacknowledged;
  stream.write(Buffer.concat(Array.from({ length: count }, (_, n) => frame(n))));
  for (let round = 1; round <= 3; round += 1) {
    await expect.poll(() => taken).toBe(round * maxUnacknowledged);
    const all = saved;
    saved = [];
    for (const resolve of all) resolve();
  }
  await expect.poll(() => acknowledged).toBe(count);
  stream.destroy();
  await disk.close();
  await rm(folder, { recursive: true, force: true });
});
