import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startAwakeTime } from '../../../test/integration/awake-time.ts';
import { runProgram } from './program.ts';

let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'infrakit-cli-'));
});
afterEach(() => rmSync(home, { recursive: true }));

/** Runs a command line and gives its exit code and all that it wrote. */
const run = async (args: readonly string[], env: Readonly<Record<string, string>> = {}, stdin = '') => {
  const written = { stdout: '', stderr: '' };
  const sink = (name: keyof typeof written) => ({
    write: (text: string) => {
      written[name] += text;
    },
  });
  const streams = { stdout: sink('stdout'), stderr: sink('stderr'), stdin: async () => stdin };
  const { signal } = new AbortController();
  const exit = await runProgram(args, { streams, env: { INFRAKIT_HOME: home, ...env }, signal });
  return { exit, ...written };
};

describe('DESIGN §6: exit codes and streams of the command line', () => {
  test.each([['--version'], ['-V']])('%s prints the version', async (word) => {
    expect(await run([word])).toEqual({ exit: 0, stdout: 'infrakit 0.1.0\n', stderr: '' });
  });

  test('GP §5.3: version prints version and revision', async () => {
    expect(await run(['version'])).toEqual({ exit: 0, stdout: 'Version: 0.1.0\nRevision: unknown\n', stderr: '' });
  });

  test.each([['-h'], ['--help'], ['help']])('%s prints the commands on stdout', async (word) => {
    const { exit, stdout, stderr } = await run([word]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(stdout).toMatch(/^Usage: infrakit <command> …\n/);
    expect(stdout).toMatch(
      /\nCommands:\n {2}event .*\n {2}local .*\n {2}plugin .*\n {2}template .*\n {2}util .*\n {2}version /,
    );
  });

  test.each([
    ['event', 'Usage: infrakit event ls|tail'],
    ['local', 'Usage: infrakit local'],
    ['plugin', 'Usage: infrakit plugin start|stop|ls'],
    ['template', 'Usage: infrakit template'],
    ['util', 'Usage: infrakit util'],
    ['version', 'Usage: infrakit version'],
  ])('GP-C3: `help %s` and `%s -h` print its help, with nothing running', async (word, usage) => {
    for (const args of [
      ['help', word],
      [word, '-h'],
    ]) {
      const { exit, stdout, stderr } = await run(args);
      expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
      expect(stdout).toContain(usage);
    }
  });

  test('no command is wrong usage: the help goes to stderr', async () => {
    const { exit, stdout, stderr } = await run([]);
    expect({ exit, stdout }).toEqual({ exit: 64, stdout: '' });
    expect(stderr).toContain('Usage: infrakit');
  });

  test.each([
    [['verison'], 'infrakit: unknown command verison; did you mean version?\n'],
    [['xyzzy'], 'infrakit: unknown command xyzzy; `infrakit --help` lists the commands\n'],
    [['--nope'], "infrakit: unknown option '--nope'; `infrakit --help` lists what there is\n"],
    [['version', '--nope'], "infrakit: unknown option '--nope'\n"],
    [['version', 'extra'], 'infrakit: too many arguments. Expected 0 arguments but got 1.\n'],
    [['plugin'], 'infrakit: plugin takes start, stop, ls, check\n'],
    [['plugin', 'strat'], 'infrakit: plugin takes start, stop, ls, check, not strat; did you mean start?\n'],
    [['plugin', 'stop'], 'infrakit: plugin stop takes either names or --all\n'],
    [['plugin', 'stop', 'a', '--all'], 'infrakit: plugin stop takes either names or --all\n'],
    [['event'], 'infrakit: event takes ls or tail\n'],
    [['event', 'tial'], 'infrakit: event takes ls or tail, not tial; did you mean tail?\n'],
    [['util', 'trak'], 'infrakit: util takes event-repeater or track, not trak; did you mean track?\n'],
    [['util', 'track'], 'infrakit: util track takes at least one -n <plugin>\n'],
    [['util', 'track', '-n', 'simulator/compute', '-t', 'a'], 'infrakit: -t: a tag is written key=value, not "a"\n'],
    [['--log', '9', 'version'], 'infrakit: --log takes a level from 0 to 5, not "9"\n'],
    [['template', 'format', 'toml'], 'infrakit: template format takes json or yaml, not "toml"\n'],
    [['template', 'a', 'b'], 'infrakit: template takes one file, not 2\n'],
  ])('%j is wrong usage: one sentence, exit 64', async (args, sentence) => {
    expect(await run(args)).toEqual({ exit: 64, stdout: '', stderr: sentence });
  });

  test('GP-C16: global flags stand anywhere', async () => {
    for (const args of [
      ['--log', '5', 'version'],
      ['version', '--log=5'],
      ['--log-format', 'term', '--log-stdout', 'version'],
    ]) {
      expect(await run(args)).toMatchObject({ exit: 0, stderr: '' });
    }
  });
});

describe('a broker that is not there', () => {
  test('nothing runs: one sentence that says how to start it, exit 69', async () => {
    for (const args of [['local'], ['local', 'mystack/a', 'ls'], ['plugin', 'ls'], ['plugin', 'stop', '--all']]) {
      expect(await run(args)).toEqual({
        exit: 69,
        stdout: '',
        stderr: `infrakit: nothing runs in ${home}: start it with \`infrakit plugin start manager:mystack group …\`, or set INFRAKIT_BROKER\n`,
      });
    }
  });

  const listening = (server: Server): Promise<number> =>
    new Promise((resolve) => {
      server.listen(0, '127.0.0.1', () => {
        const address = server.address();
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });

  test('a broker that refuses the connection: exit 69', async () => {
    const server = createServer();
    const port = await listening(server);
    await new Promise((resolve) => server.close(resolve));
    const { exit, stdout, stderr } = await run(['local'], { INFRAKIT_BROKER: `mqtt://127.0.0.1:${port}` });
    expect({ exit, stdout }).toEqual({ exit: 69, stdout: '' });
    expect(stderr).toMatch(/^infrakit: INFRAKIT_BROKER: .*\n$/);
  });

  test('a broker that accepts and never answers: exit 69 within 5 s (Law 10)', async () => {
    const server = createServer();
    const port = await listening(server);
    try {
      using began = startAwakeTime();
      const { exit, stderr } = await run(['local'], { INFRAKIT_BROKER: `mqtt://127.0.0.1:${port}` });
      expect({ exit, isInTime: began.ms() < 5_000 }).toEqual({ exit: 69, isInTime: true });
      expect(stderr).toContain('did not answer within 3000 ms');
    } finally {
      server.close();
    }
  });

  test('a host that is stopped, or too busy to answer, is not said to be gone', async () => {
    const server = createServer();
    const port = await listening(server);
    const record = {
      kind: 'embedded',
      url: `mqtt://127.0.0.1:${port}`,
      socket: null,
      pid: process.pid,
      prefix: 'infrakit',
    };
    writeFileSync(join(home, 'broker.json'), JSON.stringify(record));
    try {
      expect(await run(['local'])).toEqual({
        exit: 69,
        stdout: '',
        stderr: `infrakit: process ${process.pid}, which runs in ${home}, does not answer: mqtt://127.0.0.1:${port} did not answer within 3000 ms\n`,
      });
    } finally {
      server.close();
    }
  });

  test('an address that makes no sense is said to be one', async () => {
    const { exit, stderr } = await run(['local'], { INFRAKIT_BROKER: 'smtp://here' });
    expect(exit).toBe(1);
    expect(stderr).toMatch(/^infrakit: INFRAKIT_BROKER: not the address of a broker/);
  });
});

describe('GP §5.2: template', () => {
  test('renders standard input, adding nothing', async () => {
    const text = '{{/* a comment */}}size: {{ var "n" }}';
    expect(await run(['template', '-', '--var', 'n=007'], {}, text)).toEqual({
      exit: 0,
      stdout: 'size: 007',
      stderr: '',
    });
  });

  test('an unknown function is an error with its place, exit 1', async () => {
    const { exit, stderr } = await run(['template', '-'], {}, 'a: 1\nb: {{ nosuch 1 }}\n');
    expect(exit).toBe(1);
    expect(stderr).toMatch(/^infrakit: <stdin>:2:\d+: .*nosuch.*\n$/);
  });

  test('format converts', async () => {
    expect((await run(['template', 'format', 'yaml'], {}, '{"a": [1, "x"]}')).stdout).toBe('a:\n  - 1\n  - x\n');
    expect(JSON.parse((await run(['template', 'format', 'json'], {}, 'a: [1, x]')).stdout)).toEqual({ a: [1, 'x'] });
  });
});
