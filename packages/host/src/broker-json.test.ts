import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { realAfter } from '@infrakit/spi';
import { describe, expect, it } from 'vitest';
import {
  type BrokerRecord,
  findLiveBroker,
  readBrokerRecord,
  removeBrokerRecord,
  writeBrokerRecord,
} from './broker-json.ts';

const withHome = async (run: (home: string) => Promise<void>): Promise<void> => {
  const home = await mkdtemp(join(tmpdir(), 'infrakit-record-'));
  try {
    await run(home);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
};

const record = (home: string): BrokerRecord => ({
  kind: 'embedded',
  url: 'mqtt://127.0.0.1:1883',
  socket: join(home, 'broker.sock'),
  pid: process.pid,
  prefix: 'infrakit',
});

const listen = (path: string): Promise<Server> =>
  new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy()).listen(path, () => resolve(server));
  });

describe('broker.json (DESIGN §3)', () => {
  it('is read back as written, only by its owner, with nothing left beside it', () =>
    withHome(async (home) => {
      await writeBrokerRecord(home, record(home));
      expect(await readBrokerRecord(home)).toEqual(record(home));
      expect((await stat(join(home, 'broker.json'))).mode & 0o777).toBe(0o600);
      expect(await readdir(home)).toEqual(['broker.json']);
    }));

  it.each(['', '{"kind":', '{"kind":"embedded"}', '[]'])('%j counts as none', (text) =>
    withHome(async (home) => {
      await writeFile(join(home, 'broker.json'), text);
      expect(await readBrokerRecord(home)).toBeUndefined();
      expect(await findLiveBroker(home, realAfter)).toBeUndefined();
    }),
  );

  it('GP-D2, GP-D3: a record whose broker does not answer is stale, also while its socket file is there', () =>
    withHome(async (home) => {
      await writeBrokerRecord(home, record(home));
      expect(await findLiveBroker(home, realAfter)).toBeUndefined();
      await writeFile(join(home, 'broker.sock'), '');
      await chmod(join(home, 'broker.sock'), 0o600);
      expect(await findLiveBroker(home, realAfter)).toBeUndefined();
      await rm(join(home, 'broker.sock'));
      const server = await listen(join(home, 'broker.sock'));
      try {
        expect(await findLiveBroker(home, realAfter)).toEqual(record(home));
      } finally {
        server.close();
      }
    }));

  it('is removed only by who wrote it', () =>
    withHome(async (home) => {
      await writeBrokerRecord(home, record(home));
      await removeBrokerRecord(home, process.pid + 1);
      expect(await readBrokerRecord(home)).toEqual(record(home));
      await removeBrokerRecord(home, process.pid);
      expect(await readBrokerRecord(home)).toBeUndefined();
    }));
});
