import { mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listenOnSocket, shortSocketPath } from './broker-socket.ts';

const folderWith = async (run: (folder: string) => Promise<void>): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'socket-'));
  try {
    await run(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
};

const close = (server: ReturnType<typeof createServer>) => new Promise((resolve) => server.close(resolve));

describe('the path of a UNIX socket', () => {
  it('is the wanted one up to 100 bytes; beyond, a short one that is always the same (DESIGN §3)', () => {
    const exact = `/${'é'.repeat(49)}x`;
    expect(shortSocketPath(exact)).toBe(exact);
    const long = `/${'é'.repeat(50)}`;
    const short = shortSocketPath(long);
    expect(Buffer.byteLength(short)).toBeLessThanOrEqual(100);
    expect(short).toBe(shortSocketPath(long));
    expect(short).not.toBe(shortSocketPath(`${long}x`));
  });

  it('is short even where the temporary folder is not', () => {
    expect(shortSocketPath('x'.repeat(200), `/${'t'.repeat(100)}`)).toMatch(/^\/tmp\/infrakit-\d+-[0-9a-f]{16}\.sock$/);
  });

  it('can be listened on when it was shortened', () =>
    folderWith(async (folder) => {
      const path = shortSocketPath(join(folder, 'x'.repeat(200), 'broker.sock'));
      const server = createServer();
      await listenOnSocket(server, path);
      await close(server);
    }));
});

describe('listening on a UNIX socket', () => {
  it('gives it mode 0600, whatever the umask (DESIGN §3)', () =>
    folderWith(async (folder) => {
      const before = process.umask(0);
      const server = createServer();
      try {
        await listenOnSocket(server, join(folder, 's'));
        expect((await stat(join(folder, 's'))).mode & 0o777).toBe(0o600);
        expect(process.umask()).toBe(0);
      } finally {
        process.umask(before);
        await close(server);
      }
    }));

  it('takes the place of a dead one, never of a living one (GP D-3)', () =>
    folderWith(async (folder) => {
      const path = join(folder, 's');
      const first = createServer();
      await listenOnSocket(first, path);
      await expect(listenOnSocket(createServer(), path)).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
      // Moved away and back: the file stays when its server closes, as after a kill.
      await rename(path, `${path}.kept`);
      await close(first);
      await rename(`${path}.kept`, path);
      const second = createServer();
      await listenOnSocket(second, path);
      await close(second);
    }));

  it('refuses a path that the system would cut off', () =>
    folderWith(async (folder) => {
      const path = join(folder, 's'.repeat(100));
      await expect(listenOnSocket(createServer(), path)).rejects.toMatchObject({ code: 'BROKER_INVALID' });
      expect(await readdir(folder)).toEqual([]);
    }));

  it('removes nothing that is not a socket, and says so of a folder that is not there', () =>
    folderWith(async (folder) => {
      const path = join(folder, 'file');
      await writeFile(path, 'precious');
      await expect(listenOnSocket(createServer(), path)).rejects.toMatchObject({ code: 'BROKER_INVALID' });
      expect((await stat(path)).size).toBe(8);
      await expect(listenOnSocket(createServer(), join(folder, 'no/s'))).rejects.toMatchObject({
        code: 'BROKER_INVALID',
        message: expect.stringContaining('cannot listen on'),
      });
    }));
});
