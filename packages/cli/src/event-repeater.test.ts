import { once } from 'node:events';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { type Connection, connectMqtt } from '@infrakit/bus';
import { parseBrokerUrl } from '@infrakit/core';
import { realAfter } from '@infrakit/spi';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startHere, type TemporaryHome, temporaryHome } from '../../../test/e2e/hosts.ts';
import { eventually } from '../../../test/e2e/operator.ts';
import { type Mosquitto, startMosquitto } from '../../../test/integration/mosquitto.ts';
import { runProgram } from './program.ts';

interface Arrived {
  readonly topic: string;
  readonly event: {
    readonly Topic: string;
    readonly Type: string;
    readonly ID: string;
    readonly Data: unknown;
    readonly Seq: number;
  };
  readonly retain: boolean;
}

let home: TemporaryHome;
let sink: Mosquitto;
let host: Awaited<ReturnType<typeof startHere>>;
let reader: Connection;
let arrived: Arrived[];
const ends: (() => Promise<unknown>)[] = [];

const quiet = (): void => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };

beforeAll(async () => {
  sink = await startMosquitto();
  reader = await connectMqtt(
    { address: parseBrokerUrl(sink.url), clientId: 'plain-reader' },
    { after: realAfter, random: Math.random, log },
  );
  await reader
    .subscribe('#', 2, ({ topic, payload, retain }) => {
      if (topic.startsWith('infrakit-canary/')) return;
      arrived.push({ topic, event: JSON.parse(Buffer.from(payload).toString()), retain });
    })
    .ready();
});
afterAll(async () => {
  await reader.close();
  await sink[Symbol.asyncDispose]();
});
beforeEach(async () => {
  arrived = [];
  home = await temporaryHome();
  host = await startHere(['time'], { home: home.path });
});
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
  await host.stop();
  await home[Symbol.asyncDispose]();
});

/** A command line that runs, with what it wrote so far. */
const begin = (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const written = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof written) => ({
    write: (text: string) => {
      written[name] += text;
    },
  });
  const abort = new AbortController();
  const exit = runProgram(args, {
    streams: { stdout: stream('stdout'), stderr: stream('stderr'), stdin: async () => '' },
    env: { INFRAKIT_HOME: home.path, ...env },
    signal: abort.signal,
  });
  return {
    written,
    exit,
    stop: async () => {
      abort.abort();
      return exit;
    },
  };
};

const run = async (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const { exit, written } = begin(args, env);
  return { exit: await exit, ...written };
};

/** Starts an event repeater; it is ready when this resolves. */
const repeat = async (args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) => {
  const flags = args.includes('--sink') ? args : ['--sink', sink.url, ...args];
  const running = begin(['util', 'event-repeater', 'run', ...flags], env);
  ends.push(running.stop);
  const isReady = async () => running.written.stderr.includes('info ready') || undefined;
  await Promise.race([
    eventually('it is ready', 30_000, isReady),
    running.exit.then((exit) => Promise.reject(new Error(`it ended with ${exit}: ${running.written.stderr}`))),
  ]);
  return running;
};

const manage = (...args: readonly string[]) => run(['util', 'event-repeater', 'manage', ...args]);
const rules = async () => JSON.parse((await manage('get')).stdout);
const value = (...list: readonly (readonly [string, string?])[]) => [
  '--value',
  JSON.stringify(
    list.map(([sourcetopic, sinktopic]) => ({ sourcetopic, ...(sinktopic === undefined ? {} : { sinktopic }) })),
  ),
];

/** Waits until so many came on a topic. */
const came = (topic: string, count = 3): Promise<Arrived[]> =>
  eventually(`${count} messages on ${topic}`, 30_000, async () => {
    const found = arrived.filter((message) => message.topic === topic);
    return found.length >= count ? found : undefined;
  });

/** Whatever there is to come has come once three more of another topic have. */
const topics = (): string[] => [...new Set(arrived.map(({ topic }) => topic))].sort();

const expectInOrder = (messages: readonly Arrived[]): void => {
  const numbers = messages.map(({ event }) => event.Seq);
  expect(numbers).toEqual(numbers.map((_, at) => (numbers[0] ?? 0) + at));
};

describe('the old application, with a real broker as its sink (GP §6, GP-R20)', () => {
  test('R3: one exact topic with no sink topic, over the UNIX socket: its events arrive, and no others', async () => {
    await repeat();
    expect(await manage('post', ...value(['timer/msec/100']))).toMatchObject({ exit: 0, stderr: '' });
    const messages = await came('timer/msec/100', 6);
    expect(messages[0]).toMatchObject({
      retain: false,
      event: { Topic: 'timer/msec/100', Type: 'timer', ID: '100ms', Data: 100_000_000 },
    });
    expectInOrder(messages);
    expect(topics()).toEqual(['timer/msec/100']);
  });

  test('R2: --allowall repeats everything under its own topic, in order; GP-R10: an explicit rule has its topic alone', async () => {
    await repeat(['--allowall']);
    await came('streams/msec/100');
    await manage('post', ...value(['timer/msec/100', '/time/100ms']));
    const messages = await came('/time/100ms', 4);
    const last = arrived.length;
    await came('/time/100ms', messages.length + 3);
    expect(arrived.slice(last).map(({ topic }) => topic)).not.toContain('timer/msec/100');
    expectInOrder(messages);
    expectInOrder(await came('streams/msec/100'));
    expect((await rules()).map(({ sourcetopic }: { sourcetopic: string }) => sourcetopic)).toEqual([
      '.',
      'timer/msec/100',
    ]);
  });

  test('GP-R11: a subtree keeps its names, or gets a prefix; GP-R1: it is listed with what went through', async () => {
    await repeat();
    await manage('put', ...value(['timer/msec/', 'from/here/'], ['streams/+/500']));
    await came('from/here/timer/msec/100');
    await came('from/here/timer/msec/500', 1);
    await came('streams/msec/500', 1);
    const [first] = await rules();
    expect(first).toMatchObject({
      sourcetopic: 'timer/msec/',
      sinktopic: 'from/here/',
      state: 'active',
      lastError: '',
    });
    expect(first.messages).toBeGreaterThanOrEqual(4);
  });

  test('rules that overlap deliver each event once, to the first that matches (GP-R10)', async () => {
    await repeat();
    await manage(
      'post',
      ...value(['timer/+/100', 'a'], ['+/msec/100', 'b'], ['streams/msec/', 'c'], ['streams/msec/500', 'd']),
    );
    expectInOrder(await came('a', 5));
    expectInOrder(await came('b', 5));
    await came('c');
    const bySequence = arrived.map(({ event }) => `${event.Topic} ${event.Seq}`);
    expect(bySequence).toHaveLength(new Set(bySequence).size);
    expect(topics().filter((topic) => topic === 'd')).toEqual([]);
  });

  test('GP-R6, GP-R12: a list with one bad rule changes nothing, and exits 1 with a sentence on stderr (GP-R16)', async () => {
    await repeat();
    await manage('post', ...value(['timer/msec/100', 'a']));
    for (const method of ['post', 'put']) {
      const { exit, stdout, stderr } = await manage(
        method,
        ...value(['timer/sec/1', 'b'], ['timer/msec/500', 'x/#/y']),
      );
      expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
      expect(stderr).toMatch(/^infrakit: .*timer\/msec\/500.* \(HTTP 400\)\n$/);
    }
    expect(await manage('delete', ...value(['timer/msec/100'], ['nope']))).toMatchObject({
      exit: 1,
      stderr: 'infrakit: there is no rule for this: nope (HTTP 404)\n',
    });
    expect(await manage('post', ...value(['timer/msec/100']))).toMatchObject({
      exit: 1,
      stderr: 'infrakit: there is a rule for this already: timer/msec/100 (HTTP 409)\n',
    });
    expect(await rules()).toMatchObject([{ sourcetopic: 'timer/msec/100', sinktopic: 'a' }]);
  });

  test('GP-R14: rules survive a restart; a put changes where one goes, and nobody else is disturbed', async () => {
    const first = await repeat();
    await manage('post', ...value(['timer/msec/100', 'one'], ['streams/msec/100', 'two']));
    await came('one');
    expect(await first.stop()).toBe(0);
    arrived = [];
    await repeat();
    await came('one');
    await manage('put', '--path', '/events/timer%2Fmsec%2F100', '--value', '{"sinktopic":"other"}');
    await came('other');
    expectInOrder(await came('two', 6));
    expect(await rules()).toMatchObject([{ sinktopic: 'other' }, { sinktopic: 'two' }]);
  });

  test('GP-R4, GP-R9: the source goes away: that is told, a rule can be removed at once, and the others go on when it is back', async () => {
    await repeat();
    await manage('post', ...value(['timer/msec/100', 'one'], ['streams/msec/100', 'two']));
    await came('one');
    await host.stop();
    await eventually('the rules wait', 30_000, async () =>
      (await rules()).every(({ state }: { state: string }) => state !== 'active') ? true : undefined,
    );
    // The source is still away.
    expect((await manage('delete', ...value(['timer/msec/100']))).exit).toBe(0);
    arrived = [];
    host = await startHere(['time'], { home: home.path });
    await came('two');
    expect(topics()).toEqual(['two']);
  });

  test('the sink goes away and comes back: events go on', async () => {
    await repeat();
    await manage('post', ...value(['timer/msec/100', 'one']));
    await came('one');
    await sink.restart();
    arrived = [];
    await came('one');
  });
});

describe('how it is started (GP §6.3)', () => {
  test('a source by the path of its old socket is the plugin, by its usual name', async () => {
    await repeat(['--source', '~/.infrakit/plugins/event-time', '--allowall', '--sink', `127.0.0.1:${sink.port}`]);
    await came('timer/msec/100');
  });

  test('--buffer keeps on the disk, below the home, what the sink is away for, and delivers it when it is back', async () => {
    await repeat(['--buffer', '1000000', '--name', 'kept']);
    await manage('post', '--name', 'kept', ...value(['timer/msec/100', 'kept/one']));
    await came('kept/one');
    const folder = join(home.path, 'event-repeater', 'kept', 'buffers');
    const [id = ''] = readdirSync(folder);
    const bytes = (): number =>
      readdirSync(join(folder, id)).reduce((sum, file) => sum + statSync(join(folder, id, file)).size, 0);
    await sink.stop();
    const before = bytes();
    await eventually('events on the disk', 30_000, async () => bytes() > before + 2_000 || undefined);
    await sink.start();
    arrived = [];
    // The first ones may come before their reader is back; the others come in one go, and in order.
    expectInOrder(await came('kept/one', 5));
  });

  test('--sinkprotocol stderr prints the events', async () => {
    const { written } = await repeat(['--sinkprotocol', 'stderr', '--name', 'to-log']);
    await manage('post', '--name', 'to-log', ...value(['timer/msec/100', 'x/y']));
    await eventually('an event in the log', 30_000, async () => (written.stderr.includes('x/y') ? true : undefined));
    expect(written.stderr).toContain('timer/msec/100');
  });

  test('--listen on loopback is found by its name, and gone afterwards', async () => {
    const running = await repeat(['--listen', '127.0.0.1:0', '--name', 'tcp']);
    expect(await manage('get', '--name', 'tcp')).toEqual({ exit: 0, stdout: '[]\n', stderr: '' });
    await running.stop();
    expect((await manage('get', '--name', 'tcp')).exit).toBe(69);
  });

  test('GP-R18: beyond loopback it needs a token, and then requests do', async () => {
    const refused = await run(['util', 'event-repeater', 'run', '--sink', sink.url, '--listen', '0.0.0.0:0']);
    expect(refused).toMatchObject({
      exit: 64,
      stderr: 'infrakit: listening on 0.0.0.0, beyond this machine, needs a bearer token\n',
    });
    const file = join(home.path, 'token');
    writeFileSync(file, 'open sesame\n');
    const { written } = await repeat(['--listen', '127.0.0.1:0', '--token', `file:${file}`]);
    expect(await manage('get')).toMatchObject({ exit: 1, stderr: 'infrakit: a bearer token is needed (HTTP 401)\n' });
    expect((await manage('get', '--token', `file:${file}`)).exit).toBe(0);
    expect(written.stderr).not.toContain('sesame');
  });

  test('two of one name at once: one runs, the other is refused and disturbs it in nothing', async () => {
    const flags = ['util', 'event-repeater', 'run', '--sink', sink.url];
    const both = [begin(flags), begin([...flags, '--listen', '127.0.0.1:0'])];
    for (const { stop } of both) ends.push(stop);
    const refused = await Promise.race(both.map(async ({ exit, written }) => ({ exit: await exit, ...written })));
    expect(refused).toEqual({
      exit: 1,
      stdout: '',
      stderr: 'infrakit: an event repeater of the name app-event-repeater runs already\n',
    });
    await eventually('the other is ready', 30_000, async () => (await manage('get')).exit === 0 || undefined);
    await manage('post', ...value(['timer/msec/100', 'one']));
    await came('one');
    expect(await rules()).toMatchObject([{ sourcetopic: 'timer/msec/100', state: 'active' }]);
  });

  test('one that was killed leaves nothing that keeps the next of its name from running', async () => {
    const places = join(home.path, 'plugins');
    mkdirSync(places, { recursive: true });
    const other = createServer().listen(0, '127.0.0.1');
    ends.push(async () => other.close());
    await once(other, 'listening');
    // Its port is somebody else's by now.
    const { port } = other.address() as AddressInfo;
    writeFileSync(join(places, 'app-event-repeater.listen'), `tcp://127.0.0.1:${port}\n`);
    writeFileSync(join(places, 'app-event-repeater'), '');
    await repeat();
    expect(await rules()).toEqual([]);
  });

  test('a home that cannot be is told at once', async () => {
    const env = { INFRAKIT_HOME: '/proc/here' };
    expect(await run(['util', 'event-repeater', 'run', '--source', sink.url, '--sink', sink.url], env)).toMatchObject({
      exit: 1,
      stderr: expect.stringMatching(/^infrakit: \/proc\/here cannot be the home: .*\n$/),
    });
  });

  test('GP-R15: it is no plugin, and `plugin ls` knows nothing of it', async () => {
    await repeat();
    expect((await run(['plugin', 'ls'])).stdout).not.toContain('app-event-repeater');
  });

  test.each([
    [['--sink', 'smtp://here'], 1, /Sink: not the address of a broker/],
    [['--sink', 'mqtt://user:hidden@127.0.0.1'], 1, /Password as file:PATH or env:NAME/],
    [['--sinkprotocol', 'kafka'], 64, /--sinkprotocol takes mqtt or stderr, not kafka/],
    [['--buffer', 'much'], 64, /--buffer takes a number of bytes from 65536, not "much"/],
    [['--buffer', '65536', '--bufferpolicy', 'shrink'], 64, /--bufferpolicy takes block, .* not shrink/],
    [['--listen', 'nowhere'], 64, /--listen takes host:port, not "nowhere"/],
    [['--token', 'sesame'], 64, /--token takes file:PATH or env:NAME/],
    [['--name', 'a/b'], 64, /--name takes a name without "\/"/],
  ])('GP-R2: run %j is exit %i and one sentence', async (args, exit, sentence) => {
    const result = await run(['util', 'event-repeater', 'run', ...args]);
    expect({ exit: result.exit, stdout: result.stdout }).toEqual({ exit, stdout: '' });
    expect(result.stderr).toMatch(sentence);
    expect(result.stderr).not.toContain('hidden');
    expect(result.stderr.split('\n')).toHaveLength(2);
  });

  test.each([
    [['get'], 69, /does not run/],
    [['list'], 64, /manage takes one of get, post, put, delete, not list/],
    [['get', '--path', 'events'], 64, /--path begins with "\/"/],
  ])('GP-R16: manage %j with nothing running is exit %i', async (args, exit, sentence) => {
    const result = await manage(...args);
    expect({ exit: result.exit, stdout: result.stdout }).toEqual({ exit, stdout: '' });
    expect(result.stderr).toMatch(sentence);
  });

  test.each([
    ['200 OK', 'hello', 69, 'what answers where it listened is no event repeater'],
    ['404 Not Found', '<html>', 1, 'HTTP 404: <html>'],
  ])('manage, where somebody else listens by now who says %s', async (status, body, exit, sentence) => {
    const other = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.end(`HTTP/1.1 ${status}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`);
    }).listen(0, '127.0.0.1');
    ends.push(async () => other.close());
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    mkdirSync(join(home.path, 'plugins'), { recursive: true });
    writeFileSync(join(home.path, 'plugins', 'gone.listen'), `tcp://127.0.0.1:${port}\n`);
    const result = await manage('get', '--name', 'gone');
    expect({ exit: result.exit, stdout: result.stdout }).toEqual({ exit, stdout: '' });
    expect(result.stderr).toContain(sentence);
    expect(result.stderr.split('\n')).toHaveLength(2);
  });

  test('a home whose path is too long for a socket', async () => {
    const long = join(home.path, 'x'.repeat(100));
    const env = { INFRAKIT_HOME: long };
    await repeat(['--source', sink.url, '--sinkprotocol', 'stderr'], env);
    expect(await run(['util', 'event-repeater', 'manage', 'get'], env)).toMatchObject({ exit: 0, stdout: '[]\n' });
  });
});
