import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { realAfter } from '@infrakit/spi';
import { describe, expect, it } from 'vitest';
import { openBrokerStore } from './broker-store.ts';

const ignore = (): void => undefined;

const inFolder = async (
  run: (dir: string, warnings: string[], open: () => ReturnType<typeof openBrokerStore>) => Promise<void>,
) => {
  const folder = await mkdtemp(join(tmpdir(), 'store-'));
  const dir = join(folder, 'broker');
  const warnings: string[] = [];
  const log = {
    debug: ignore,
    info: ignore,
    error: ignore,
    warn: (_: unknown, text: string) => void warnings.push(text),
  };
  const onWriteError = (error: unknown): void => {
    throw error;
  };
  try {
    await run(dir, warnings, () => openBrokerStore(dir, { log, after: realAfter, onWriteError }));
  } finally {
    await rm(folder, { recursive: true });
  }
};

describe('the store of a broker', () => {
  it('has after a restart what was last written to each key', () =>
    inFolder(async (_dir, warnings, open) => {
      const store = await open();
      expect(store.loaded.size).toBe(0);
      store.write('a', Buffer.from('1'));
      store.write('gone', Buffer.from('1'));
      await new Promise(setImmediate);
      store.write('a', Buffer.from('2'));
      store.write('gone', undefined);
      store.write('é😀', Buffer.from('3'));
      await store.close();
      const again = await open();
      expect([...again.loaded].map(([key, value]) => `${key}=${value}`)).toEqual(['a=2', 'é😀=3']);
      await again.close();
      expect(warnings).toEqual([]);
    }));

  it('writes what is not urgent when it is old, not at all when it is forgotten by then, and says when that is so', () =>
    inFolder(async (_dir, _warnings, open) => {
      const store = await open();
      const settled: string[] = [];
      const keep = (key: string, isUrgent: boolean): Promise<void> =>
        new Promise((resolve) => {
          const written = (): void => {
            settled.push(key);
            resolve();
          };
          store.writeNew(key, { make: () => Buffer.from(key), isUrgent, written });
        });
      void keep('forgotten', false);
      store.forget('forgotten');
      expect(settled).toEqual(['forgotten']);
      const slow = keep('slow', false);
      await keep('urgent', true);
      expect(settled).toEqual(['forgotten', 'urgent']);
      await slow;
      void keep('changed', false);
      store.write('changed', Buffer.from('later'));
      store.forget('urgent');
      await store.close();
      expect(settled).toEqual(['forgotten', 'urgent', 'slow', 'changed']);
      const again = await open();
      const kept = [...again.loaded].map(([key, value]) => `${key}=${value}`);
      expect(kept).toEqual(['changed=later', 'slow=slow']);
      await again.close();
    }));

  it('that is broken is moved aside with a warning, and the broker begins anew', () =>
    inFolder(async (dir, warnings, open) => {
      const store = await open();
      store.write('a', Buffer.from('1'));
      await store.close();
      for (const file of await readdir(dir)) {
        if (/^MANIFEST|\.log$|\.ldb$/.test(file)) await writeFile(join(dir, file), 'not a database at all');
      }
      const again = await open();
      expect(again.loaded.size).toBe(0);
      again.write('b', Buffer.from('2'));
      await again.close();
      expect(warnings).toEqual([expect.stringContaining('moved aside')]);
      expect((await readdir(join(dir, '..'))).filter((name) => name.startsWith('broker.broken-'))).toHaveLength(1);
      const third = await open();
      expect([...third.loaded.keys()]).toEqual(['b']);
      await third.close();
    }));

  it('that a living broker uses is refused and left alone', () =>
    inFolder(async (dir, warnings, open) => {
      const store = await open();
      await expect(open()).rejects.toMatchObject({
        code: 'BROKER_INVALID',
        message: expect.stringContaining('another broker uses'),
      });
      await store.close();
      expect(warnings).toEqual([]);
      expect(await readdir(join(dir, '..'))).toEqual(['broker']);
    }));

  it('without a folder keeps nothing', async () => {
    const store = await openBrokerStore(undefined, {
      log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
      after: realAfter,
      onWriteError: ignore,
    });
    store.write('a', Buffer.from('1'));
    await store.close();
    expect(store.loaded.size).toBe(0);
  });
});
