import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Connection, connectMqtt } from '@infrakit/bus';
import { realAfter } from '@infrakit/spi';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ChildHost, startChild, type TemporaryHome, temporaryHome } from '../../../test/e2e/hosts.ts';
import { brokerOf, eventually } from '../../../test/e2e/operator.ts';
import { type Mosquitto, startMosquitto } from '../../../test/integration/mosquitto.ts';
import { type Collector, collect } from '../../../test/integration/repeater-scene.ts';
import { runProgram } from './program.ts';

const secret = 'hunter2-and-more';
const quiet = (): void => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };

let home: TemporaryHome;
let sink: Mosquitto;
let host: ChildHost;
/** Everything that anybody was shown: answers, errors, and what went over the bus. */
let shown: string;
let listener: Connection;

beforeEach(async () => {
  home = await temporaryHome();
  sink = await startMosquitto({ users: { me: secret } });
  host = await startChild(['manager:mystack', 'group', 'time', 'repeater'], {
    home: home.path,
    variables: {
      INFRAKIT_MANAGER_CONTROLLERS: 'repeater',
      INFRAKIT_LOG_LEVEL: 'debug',
      SINK_PASSWORD: secret,
      WRONG_PASSWORD: `not-${secret}`,
    },
  });
  shown = '';
  listener = await connectMqtt(
    { address: await brokerOf(home.path), clientId: 'listens-to-all', version: '3.1.1' },
    { after: realAfter, random: Math.random, log },
  );
  await listener
    .subscribe('#', 0, ({ topic, payload }) => {
      // A call carries what its caller typed, to who may do everything.
      if (!topic.startsWith('infrakit/rpc/')) shown += `${topic} ${Buffer.from(payload).toString()}\n`;
    })
    .ready();
});
afterEach(async () => {
  await listener.close();
  await host[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

/** Runs a command line to its end. */
const run = async (...args: readonly string[]) => {
  const written = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof written) => ({
    write: (text: string) => {
      written[name] += text;
    },
  });
  const exit = await runProgram(args, {
    streams: { stdout: stream('stdout'), stderr: stream('stderr'), stdin: async () => '' },
    env: { INFRAKIT_HOME: home.path },
    signal: new AbortController().signal,
  });
  shown += written.stdout + written.stderr;
  return { exit, ...written };
};

const specWith = async (sinkWords: object, rules: readonly object[]): Promise<string> => {
  const file = join(home.path, 'bridge.json');
  const Sink = { URL: `tcp://127.0.0.1:${sink.port}`, ...sinkWords };
  const spec = {
    kind: 'event-repeater',
    metadata: { name: 'bridge' },
    properties: { Source: 'time', Sink, Rules: rules },
  };
  await writeFile(file, JSON.stringify(spec));
  return file;
};

const user = { Username: 'me', Password: 'env:SINK_PASSWORD' };
const one = { sourcetopic: 'timer/msec/100', sinktopic: 'one' };
const two = { sourcetopic: 'streams/msec/100', sinktopic: 'two' };

const rows = async (): Promise<string[]> =>
  (await run('local', 'mystack/repeater/bridge', 'describe', '-o')).stdout
    .split('\n')
    .slice(1)
    .filter((line) => line !== '')
    .map((line) => line.replace(/\s+/g, ' ').trim());

const isActive = (count: number): Promise<string[]> =>
  eventually(`${count} rules that are active`, 30_000, async () => {
    const all = await rows();
    return all.length === count && all.every((row) => row.includes(' active ')) ? all : undefined;
  });

/** Comes to the sink with the password, through its socket. */
const listen = (): Promise<Collector> =>
  collect(sink.unixUrl.slice('unix:'.length), '#', 'here', ['-u', 'me', '-P', secret]);

const came = (got: Collector, topic: string, from = 0): Promise<true> =>
  eventually(
    topic,
    30_000,
    async () => got.messages.slice(from).some((message) => message.topic === topic) || undefined,
  );

describe('the verbs of a repeater (issue 6)', () => {
  test('plan says what a commit would do and does nothing; commit, describe, free, commit again, destroy', async () => {
    await using got = await listen();
    const file = await specWith(user, [one]);
    const plan = await run('local', 'mystack/repeater', 'plan', file);
    expect(plan).toMatchObject({ exit: 0, stderr: '' });
    expect(plan.stdout).toMatch(/timer\/msec\/100/);
    expect((await run('local', 'repeater/topic', 'describe', '-q')).stdout).toBe('');

    expect((await run('local', 'mystack/repeater', 'commit', file)).exit).toBe(0);
    const [row] = await isActive(1);
    expect(row).toMatch(/^bridge timer\/msec\/100 active \d+ messages, \d+ bytes, lag \d+ ms$/);
    await came(got, 'one');
    const before = (await run('local', 'repeater/topic', 'describe', '-q')).stdout.split('\t')[0];

    // Set free, its mirrors go on, and a commit takes up the same ones.
    expect((await run('local', 'mystack/repeater/bridge', 'free')).exit).toBe(0);
    const count = got.messages.length;
    await came(got, 'one', count + 3);
    expect((await run('local', 'mystack/repeater', 'commit', await specWith(user, [one, two]))).exit).toBe(0);
    await isActive(2);
    await came(got, 'two');
    expect((await run('local', 'repeater/topic', 'describe', '-q')).stdout).toContain(before);

    expect((await run('local', 'mystack/repeater/bridge', 'destroy')).exit).toBe(0);
    await eventually(
      'no mirrors',
      30_000,
      async () => (await run('local', 'repeater/topic', 'describe', '-q')).stdout === '' || undefined,
    );
  }, 120_000);

  test('AllowAll mirrors what no rule is for; in a commit all faults are told at once', async () => {
    await using got = await listen();
    const file = join(home.path, 'all.json');
    const Sink = { URL: `tcp://127.0.0.1:${sink.port}`, ...user };
    const properties = { Source: 'time', Sink, Rules: [one], AllowAll: true };
    await writeFile(file, JSON.stringify({ kind: 'event-repeater', metadata: { name: 'bridge' }, properties }));
    await run('local', 'mystack/repeater', 'commit', file);
    await came(got, 'one');
    await came(got, 'streams/msec/100');
    expect(got.messages.map(({ topic }) => topic)).not.toContain('timer/msec/100');

    const wrong = await run(
      'local',
      'mystack/repeater',
      'commit',
      await specWith(user, [{ sourcetopic: 'a/#/b' }, { sourcetopic: 'a', sinktopic: 'x/+' }]),
    );
    expect(wrong.exit).toBe(1);
    expect(wrong.stderr).toMatch(/a\/#\/b/);
    expect(wrong.stderr).toMatch(/x\/\+ has more \+/);
  }, 120_000);
});

/** Every file below the home that holds a text. */
const filesWith = async (text: string): Promise<string[]> => {
  const entries = await readdir(home.path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const found = await Promise.all(files.map(async (file) => ((await readFile(file)).includes(text) ? file : null)));
  return found.filter((file) => file !== null);
};

describe('a password (DESIGN §5)', () => {
  test.each(['env', 'file'])(
    'by %s lets us in, and is in no answer, log, topic, state or file',
    async (kind) => {
      await using got = await listen();
      const passwordFile = join(home.path, 'the-password');
      if (kind === 'file') await writeFile(passwordFile, `${secret}\n`);
      const Password = kind === 'file' ? `file:${passwordFile}` : 'env:SINK_PASSWORD';
      const file = await specWith({ Username: 'me', Password }, [one]);
      await run('local', 'mystack/repeater', 'plan', file);
      await run('local', 'mystack/repeater', 'commit', '-y', file);
      await isActive(1);
      await came(got, 'one');

      // One that is wrong, one that is not there, and one in the wrong place.
      for (const [words, sentence] of [
        [{ ...user, Password: 'env:WRONG_PASSWORD' }, /does not let us in|user name or password is wrong/],
        [{ ...user, Password: 'env:NOT_SET' }, /the variable NOT_SET, which holds a password, is not set/],
        [{ ...user, Password: `file:${home.path}/nowhere` }, /the file of a password cannot be read/],
      ] as const) {
        await run('local', 'mystack/repeater', 'commit', '-y', await specWith(words, [one]));
        await eventually(
          String(sentence),
          30_000,
          async () => (await rows()).some((row) => sentence.test(row)) || undefined,
        );
      }
      for (const words of [
        { ...user, Password: secret },
        { URL: `mqtt://me:${secret}@127.0.0.1:${sink.port}` },
        { ...user, TLS: { key: secret }, URL: `mqtt://127.0.0.1:${sink.port}` },
      ]) {
        expect((await run('local', 'mystack/repeater', 'commit', '-y', await specWith(words, [one]))).exit).toBe(1);
      }
      for (const object of ['mystack/repeater/bridge', 'repeater', 'repeater/topic', 'mystack']) {
        await run('local', object, 'describe', '-o');
        await run('local', object, 'describe', '-p');
        await run('local', object, 'inspect');
      }
      await writeFile(file, '');
      if (kind === 'file') await writeFile(passwordFile, '');
      expect(shown).toContain(Password);
      for (const text of [shown, host.log().join('\n')]) expect(text.split(secret)).toHaveLength(1);
      expect(await filesWith(secret)).toEqual([]);
    },
    90_000,
  );
});
