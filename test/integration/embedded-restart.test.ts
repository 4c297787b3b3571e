import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { startAwakeTime } from './awake-time.ts';
import { type Ended, mosquittoPub, mosquittoSub, startEmbedded, tempFolder, until } from './embedded.ts';

const child = fileURLToPath(new URL('./embedded-child.ts', import.meta.url));

const withFolder = async (run: (folder: string) => Promise<void>): Promise<void> => {
  const folder = await tempFolder();
  try {
    await run(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

const startChild = async (socketPath: string, dir: string): Promise<ChildProcess> => {
  const args = ['--import', 'tsx', '--conditions=@infrakit/source', child, socketPath, dir];
  const started = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ready = started.stdout === null ? Promise.reject(new Error('no output')) : once(started.stdout, 'data');
  await Promise.race([
    ready,
    once(started, 'exit').then(([code]) => Promise.reject(new Error(`the broker ended with ${code}`))),
  ]);
  return started;
};

const pub = async (socketPath: string, topic: string, payload: string, ...more: string[]): Promise<void> => {
  const { exit, stderr } = await mosquittoPub('--unix', socketPath, '-t', topic, '-m', payload, '-q', '1', ...more);
  if (exit !== 0) throw new Error(`publishing to ${topic} failed: ${stderr}`);
};

const sub = (socketPath: string, ...args: string[]): Promise<Ended> =>
  mosquittoSub('--unix', socketPath, '-v', '-W', '1', ...args);

const sorted = ({ stdout }: Ended): string[] =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .sort();

describe('what the embedded broker remembers over a restart', () => {
  it('after kill -9: retained state and members and a lasting session with its messages; processes and plugins of the last run are gone (DESIGN §3)', () =>
    withFolder(async (folder) => {
      const [socketPath, dir] = [join(folder, 'b.sock'), join(folder, 'db')];
      const killed = await startChild(socketPath, dir);
      try {
        await sub(socketPath, '-t', 'infrakit/events/#', '-q', '1', '-c', '-i', 'repeater');
        const retained = ['processes/n1', 'plugins/group/n1.1', 'state/group/cattle', 'members/group/cattle/i-1'];
        for (const topic of retained) await pub(socketPath, `infrakit/${topic}`, 'x', '-r');
        await pub(socketPath, 'infrakit/members/group/cattle/i-2', 'x', '-r');
        await mosquittoPub('--unix', socketPath, '-t', 'infrakit/members/group/cattle/i-2', '-n', '-r', '-q', '1');
        for (const n of [1, 2, 3]) await pub(socketPath, 'infrakit/events/group/x', `missed ${n}`);
        // A round trip after the last message: the broker writes it within milliseconds of having it.
        await sub(socketPath, '-t', 'nothing');
      } finally {
        killed.kill('SIGKILL');
      }
      await once(killed, 'exit');
      const again = await startChild(socketPath, dir);
      try {
        expect(sorted(await sub(socketPath, '-t', '#'))).toEqual([
          'infrakit/members/group/cattle/i-1 x',
          'infrakit/state/group/cattle x',
        ]);
        const missed = await sub(socketPath, '-t', 'infrakit/events/#', '-q', '1', '-c', '-i', 'repeater');
        expect(missed.stdout).toBe([1, 2, 3].map((n) => `infrakit/events/group/x missed ${n}\n`).join(''));
      } finally {
        again.kill('SIGKILL');
        await once(again, 'exit');
      }
    }));

  it('a database that is broken is moved aside with a warning; the broker starts', () =>
    withFolder(async (folder) => {
      const persistenceDir = join(folder, 'db');
      {
        await using first = await startEmbedded({ persistenceDir }, { folder });
        await pub(first.socketPath, 'infrakit/state/group/cattle', 'x', '-r');
      }
      for (const file of await readdir(persistenceDir)) await writeFile(join(persistenceDir, file), 'noise');
      await using second = await startEmbedded({ persistenceDir }, { folder });
      expect(second.lines).toContainEqual(
        expect.objectContaining({ level: 'warn', message: expect.stringContaining('moved aside') }),
      );
      expect(sorted(await sub(second.socketPath, '-t', '#'))).toEqual([]);
    }));

  it('without a folder nothing is remembered', () =>
    withFolder(async (folder) => {
      {
        await using first = await startEmbedded({}, { folder });
        await pub(first.socketPath, 'infrakit/state/group/cattle', 'x', '-r');
      }
      await using second = await startEmbedded({}, { folder });
      expect(sorted(await sub(second.socketPath, '-t', '#'))).toEqual([]);
    }));
});

describe('the end of the embedded broker', () => {
  it('comes within 2 s with clients connected, one of them frozen, and their wills are done', () =>
    withFolder(async (folder) => {
      const persistenceDir = join(folder, 'db');
      const subject = await startEmbedded({ persistenceDir }, { folder });
      const will = ['--will-topic', 'infrakit/state/x/y', '--will-payload', 'gone', '--will-retain', '--will-qos', '1'];
      const clients = ['a', 'b'].map((id) => sub(subject.socketPath, '-t', '#', '-i', id, ...will));
      const frozen = connect(subject.port, '127.0.0.1');
      frozen.pause();
      frozen.write(Buffer.from('100d00044d51545404020000000170', 'hex'));
      await until(() => subject.broker.stats().clientsConnected === 3, 'not all clients are connected');
      using started = startAwakeTime();
      await subject.broker.stop();
      expect(started.ms()).toBeLessThan(2_000);
      await Promise.all(clients);
      frozen.destroy();
      await using again = await startEmbedded({ persistenceDir }, { folder });
      expect(sorted(await sub(again.socketPath, '-t', '#'))).toEqual(['infrakit/state/x/y gone']);
    }));
});
