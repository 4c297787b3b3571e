import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hashPassword, loadUsers, startEmbeddedBroker } from '@infrakit/bus';
import { realAfter } from '@infrakit/spi';
import { describe, expect, it } from 'vitest';
import { makeCertificates } from './certificates.ts';
import {
  type EmbeddedSubject,
  mosquittoPub,
  mosquittoSub,
  mosquittoSubUntil,
  startEmbedded,
  tempFolder,
  until,
} from './embedded.ts';

const ignore = (): void => undefined;
const silent = { debug: ignore, info: ignore, warn: ignore, error: ignore };

const unix = ({ socketPath }: EmbeddedSubject) => ['--unix', socketPath];
const tcp = ({ port }: EmbeddedSubject) => ['-h', '127.0.0.1', '-p', String(port)];

/** Publishes as our own processes do; fails if it is refused. */
const publish = async (subject: EmbeddedSubject, topic: string, payload: string, ...more: string[]): Promise<void> => {
  const { exit, stderr } = await mosquittoPub(...unix(subject), '-t', topic, '-m', payload, '-q', '1', ...more);
  if (exit !== 0) throw new Error(`publishing to ${topic} failed: ${stderr}`);
};

/** What is to be heard has come by then, and so has what should not. */
const stillMs = 1_000;

/** What a client gets of messages that are published while it listens. */
const overhear = async (subject: EmbeddedSubject, args: string[], act: () => Promise<void>): Promise<string[]> => {
  const before = subject.broker.stats().subscriptions;
  const over = new AbortController();
  const listening = mosquittoSubUntil(over.signal, ...args, '-v');
  await until(() => subject.broker.stats().subscriptions > before, 'mosquitto_sub did not subscribe');
  await act().finally(() => setTimeout(() => over.abort(), stillMs));
  return (await listening).stdout.split('\n').filter((line) => line !== '');
};

const ofEachFamily = [
  'infrakit/processes/n1',
  'infrakit/plugins/group/n1.1',
  'infrakit/rpc/group/-/Group.Commit',
  'infrakit/reply/cli-1',
  'infrakit/events/group/cattle/member/joined',
  'infrakit/state/group/cattle',
  'infrakit/members/group/cattle/i-1',
  'other/events/x',
];
const readable = ofEachFamily.filter((topic) => /^infrakit\/(plugins|events|state|members)\//.test(topic)).sort();
const topicsOf = (lines: readonly string[]) => lines.map((line) => line.split(' ')[0]).sort();

describe('the rights of the embedded broker (DESIGN §3)', () => {
  it('an anonymous client on loopback may subscribe to # and is forwarded plugins, events, state and members only', async () => {
    await using subject = await startEmbedded();
    const heard = await overhear(
      subject,
      [...tcp(subject), '-t', '#', '-t', '$SYS/#', '-t', 'infrakit/rpc/#'],
      async () => {
        for (const topic of ofEachFamily) await publish(subject, topic, 'x');
      },
    );
    expect([...new Set(topicsOf(heard))]).toEqual(readable);
  });

  it('the same holds for what was retained before it came, and with a lasting session', async () => {
    await using subject = await startEmbedded();
    for (const topic of ofEachFamily) await publish(subject, topic, 'x', '-r');
    const fresh = await mosquittoSub(...tcp(subject), '-t', '#', '-v', '-W', '1');
    expect(topicsOf(fresh.stdout.trim().split('\n'))).toEqual(readable);
    const lasting = [...tcp(subject), '-t', 'infrakit/#', '-q', '1', '-c', '-i', 'me', '-v', '-W', '1'];
    await mosquittoSub(...lasting);
    await publish(subject, 'infrakit/rpc/group/-/Group.Commit', 'late');
    const again = await mosquittoSub(...lasting);
    expect(topicsOf(again.stdout.trim().split('\n'))).toEqual(readable);
    expect(subject.broker.stats().sessionBytes).toBe(0);
  });

  it('an anonymous publish fails at QoS 1, goes nowhere at any QoS, and is counted and logged once', async () => {
    await using subject = await startEmbedded();
    const topic = 'infrakit/events/group/forged';
    const heard = await overhear(subject, [...unix(subject), '-t', '#'], async () => {
      expect((await mosquittoPub(...tcp(subject), '-t', topic, '-m', 'x', '-q', '1')).exit).not.toBe(0);
      for (const qos of ['0', '2']) await mosquittoPub(...tcp(subject), '-t', topic, '-m', 'x', '-r', '-q', qos);
      await until(() => subject.broker.stats().refused['publish-right'] === 3, 'not every publish was refused');
      await publish(subject, 'infrakit/events/group/real', 'x');
    });
    expect(heard).toEqual(['infrakit/events/group/real x']);
    expect(subject.lines).toEqual([
      {
        level: 'warn',
        message: 'the broker refused',
        facts: expect.objectContaining({ reason: 'publish-right', topic }),
      },
    ]);
  });

  it('an anonymous client may not leave a will: it could not publish it', async () => {
    await using subject = await startEmbedded();
    const { exit } = await mosquittoSub(...tcp(subject), '-t', '#', '--will-topic', 'infrakit/events/x', '-W', '2');
    expect(exit).toBe(5);
  });

  it('an anonymous client cannot throw out one of ours by taking its client id', async () => {
    await using subject = await startEmbedded();
    const heard = await overhear(subject, [...unix(subject), '-i', 'manager-n1', '-t', '#'], async () => {
      await mosquittoSub(...tcp(subject), '-i', 'manager-n1', '-t', '#', '-W', '1');
      await publish(subject, 'infrakit/rpc/a/b/c', 'still here');
    });
    expect(heard).toEqual(['infrakit/rpc/a/b/c still here']);
  });

  it('the UNIX socket may do everything, but nobody writes the broker’s own topics', async () => {
    await using subject = await startEmbedded({ systemEveryMs: 50 });
    const heard = await overhear(subject, [...unix(subject), '-t', '#'], async () => {
      for (const topic of ofEachFamily) await publish(subject, topic, 'x');
    });
    expect(topicsOf(heard)).toEqual([...ofEachFamily].sort());
    expect((await mosquittoPub(...unix(subject), '-t', '$SYS/broker/uptime', '-m', 'x', '-q', '1')).exit).not.toBe(0);
    const counters = await mosquittoSub(...unix(subject), '-t', '$SYS/#', '-v', '-W', '1');
    const lines = counters.stdout.split('\n');
    expect(lines).toContainEqual(expect.stringMatching(/^\$SYS\/broker\/uptime \d+ seconds$/));
    expect(lines).toContainEqual(expect.stringMatching(/^\$SYS\/broker\/publish\/messages\/received ([89]|\d{2,})$/));
    expect(lines).toContain('$SYS/broker/clients/connected 1');
    expect(lines).toContain('$SYS/broker/refused/publish-right 1');
    expect(lines.filter((line) => line !== '' && !line.startsWith('$SYS/broker/'))).toEqual([]);
  });

  it('a group is listed with mosquitto_sub alone, as DESIGN §3 has it', async () => {
    await using subject = await startEmbedded();
    for (const id of ['i-1', 'i-2'])
      await publish(subject, `infrakit/members/group/cattle/${id}`, `{"ID":"${id}"}`, '-r');
    await mosquittoPub(...unix(subject), '-t', 'infrakit/members/group/cattle/i-2', '-n', '-r', '-q', '1');
    const list = await mosquittoSub(
      ...tcp(subject),
      '-t',
      'infrakit/members/group/cattle/+',
      '--retained-only',
      '-W',
      '1',
    );
    expect(list.stdout).toBe('{"ID":"i-1"}\n');
  });
});

describe('users and TLS', () => {
  const withUsers = async (run: (folder: string, users: Awaited<ReturnType<typeof loadUsers>>) => Promise<void>) => {
    const folder = await tempFolder();
    try {
      const file = join(folder, 'users');
      const line = async (name: string, role: string, password: string) =>
        `${name}:${role}:${await hashPassword(password)}\n`;
      await writeFile(file, (await line('ops', 'full', 'o')) + (await line('eve', 'read-only', 'e')), { mode: 0o600 });
      await run(folder, await loadUsers(file, { log: silent }));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };

  it('beyond loopback: TLS with users; full may publish, read-only may look, others do not get in', () =>
    withUsers(async (folder, users) => {
      const { ca, server } = await makeCertificates(folder);
      const tls = { cert: await readFile(server.cert), key: await readFile(server.key) };
      await using subject = await startEmbedded({ users, tls, listen: { host: '0.0.0.0', port: 0 } });
      expect(subject.broker.address).toBe(`mqtts://0.0.0.0:${subject.port}`);
      const as = (user?: string, password?: string) => [
        ...['-h', 'localhost', '-p', String(subject.port), '--cafile', ca],
        ...(user === undefined ? [] : ['-u', user]),
        ...(password === undefined ? [] : ['-P', password]),
      ];
      const note = ['-t', 'infrakit/events/x/y', '-m', 'x', '-q', '1'];
      const heard = await overhear(subject, [...as('eve', 'e'), '-t', '#', '-c', '-i', 'eve'], async () => {
        expect((await mosquittoPub(...as('ops', 'o'), ...note)).exit).toBe(0);
        expect((await mosquittoPub(...as('ops', 'o'), '-t', 'infrakit/rpc/a/b/c', '-m', 'x', '-q', '1')).exit).toBe(0);
        expect((await mosquittoPub(...as('eve', 'e'), ...note)).exit).not.toBe(0);
        expect((await mosquittoPub(...as('ops', 'wrong'), ...note)).exit).toBe(4);
        expect((await mosquittoPub(...as('nobody', 'o'), ...note)).exit).toBe(4);
        expect((await mosquittoPub(...as(), ...note)).exit).toBe(5);
        expect((await mosquittoPub('-h', '127.0.0.1', '-p', String(subject.port), ...note)).exit).not.toBe(0);
        await publish(subject, 'infrakit/events/x/unix', 'x');
      });
      expect(heard).toEqual(['infrakit/events/x/y x', 'infrakit/events/x/unix x']);
      expect(subject.broker.stats()).toMatchObject({ sessionBytes: 0, refused: { authentication: 3, tls: 1 } });
    }));
});

describe('a start that cannot be', () => {
  it('a taken port is one sentence that offers both ways out (DESIGN §3), and leaves nothing behind', async () => {
    await using subject = await startEmbedded();
    const folder = await tempFolder();
    const socketPath = join(folder, 'b.sock');
    const start = startEmbeddedBroker(
      { listen: { host: '127.0.0.1', port: subject.port }, socketPath, persistenceDir: join(folder, 'db') },
      { log: silent, after: realAfter, now: () => performance.now() },
    );
    await expect(start).rejects.toMatchObject({
      code: 'BUS_UNAVAILABLE',
      message: `127.0.0.1:${subject.port} is taken: set INFRAKIT_BROKER=mqtt://127.0.0.1:${subject.port} to use the broker there, or INFRAKIT_LISTEN=127.0.0.1:0 for a free port`,
    });
    await using second = await startEmbedded({ persistenceDir: join(folder, 'db'), socketPath });
    expect(second.port).not.toBe(subject.port);
  });

  it('beyond loopback without TLS and users is refused before anything is opened', async () => {
    await expect(startEmbedded({ listen: { host: '0.0.0.0', port: 0 } })).rejects.toMatchObject({
      code: 'BROKER_INVALID',
    });
  });
});
