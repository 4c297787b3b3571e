import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startHere, type TemporaryHome, temporaryHome } from '../../../test/e2e/hosts.ts';
import { brokerOf, connectOperator, type Operator } from '../../../test/e2e/operator.ts';
import { cattle, plugins } from '../../../test/e2e/specs.ts';
import { hasMembers } from '../../../test/e2e/stack.ts';
import { runProgram } from './program.ts';

let home: TemporaryHome;
let host: Awaited<ReturnType<typeof startHere>>;
let operator: Operator;
beforeAll(async () => {
  home = await temporaryHome();
  host = await startHere(plugins, { home: home.path });
  operator = await connectOperator(await brokerOf(home.path));
  await operator.commit(cattle(2));
  await hasMembers(operator, 'cattle', 2);
});
afterAll(async () => {
  await operator[Symbol.asyncDispose]();
  await host.stop();
  await home[Symbol.asyncDispose]();
});

/** A command line that runs: what it wrote so far, and how it ended. */
const begin = (args: readonly string[], at = home) => {
  const written = { stdout: '', stderr: '' };
  const sink = (name: keyof typeof written) => ({
    write: (text: string) => {
      written[name] += text;
    },
  });
  const abort = new AbortController();
  const exit = runProgram(args, {
    streams: { stdout: sink('stdout'), stderr: sink('stderr'), stdin: async () => '' },
    env: { INFRAKIT_HOME: at.path },
    signal: abort.signal,
  });
  const wrote = async (name: keyof typeof written, text: string, from = 0): Promise<void> => {
    const endMs = Date.now() + 30_000;
    while (!written[name].slice(from).includes(text)) {
      if (Date.now() > endMs) throw new Error(`${args.join(' ')} never wrote ${text}: ${JSON.stringify(written)}`);
      await delay(5);
    }
  };
  return { written, exit, wrote, interrupt: () => abort.abort() };
};

const run = async (...args: readonly string[]) => {
  const { exit, written } = begin(args);
  return { exit: await exit, ...written };
};

const leaves = ['hr/1', 'min/1', 'min/30', 'min/5', 'msec/100', 'msec/500', 'sec/1', 'sec/30', 'sec/5'];
const lines = (...texts: readonly string[]): string => texts.map((text) => `${text}\n`).join('');

describe('topics (GP §3.5)', () => {
  test.each([
    [
      ['time', 'topics'],
      ['streams', 'timer'],
    ],
    [
      ['time/streams', 'topics'],
      ['hr', 'min', 'msec', 'sec'],
    ],
    [
      ['time', 'topics', 'timer/'],
      ['hr', 'min', 'msec', 'sec'],
    ],
    [
      ['time', 'topics', '-l'],
      ['streams', 'timer'],
    ],
    [
      ['time/streams', 'topics', '-l', 'sec'],
      ['total 3:', '1', '30', '5'],
    ],
    [
      ['time/streams', 'topics', '-l', '-q', 'sec'],
      ['1', '30', '5'],
    ],
    [
      ['time/streams', 'topics', '-a'],
      ['total 9:', ...leaves],
    ],
    [['time/streams', 'topics', '-a', '-q'], leaves],
    [
      ['time/streams', 'topics', '-l', 'hr', 'msec'],
      ['total 1:', '1', 'total 2:', '100', '500'],
    ],
    [['time/streams', 'topics', 'sec/1'], []],
    [
      ['group', 'topics', 'cattle/member'],
      ['changed', 'joined', 'leaving', 'left'],
    ],
    [['nfs', 'topics'], []],
  ])('local %j', async (args, expected) => {
    expect(await run('local', ...args)).toEqual({ exit: 0, stdout: lines(...expected), stderr: '' });
  });

  test.each([
    [['time', 'topics', 'streams/sce'], 1, 'there is no topic streams/sce'],
    [['time', 'topics', '/'], 64, 'No absolute path'],
    [['tmie', 'topics'], 127, 'no object is called tmie; did you mean time?'],
  ])('GP-E17: local %j is exit %i', async (args, exit, sentence) => {
    expect(await run('local', ...args)).toEqual({ exit, stdout: '', stderr: `infrakit: ${sentence}\n` });
  });
});

describe('tail (GP §3.5)', () => {
  test.each([
    [['time', 'tail', 'streams/msec/100'], 'streams/msec/100\t100000000'],
    [['time/streams', 'tail', 'msec/100'], 'streams/msec/100\t100000000'],
    [['time', 'tail', 'timer/+/100'], 'timer/msec/100\t100000000'],
    [['time', 'tail', 'timer/msec/', '--view', '{{.Type}}'], 'timer'],
    [['time/timer', 'tail', '+/100'], 'timer/msec/100\t100000000'],
    [['time', 'tail', '--view', 'str://{{.Type}} {{.ID}}', 'timer/msec/100'], 'timer 100ms'],
  ])('local %j', async (args, line) => {
    expect(await run('local', ...args, '--count', '1')).toEqual({ exit: 0, stdout: `${line}\n`, stderr: '' });
  });

  test('GP-E4: an inner node by itself is told to be one, and yields nothing', async () => {
    const { exit, stdout, stderr } = await run('local', 'time/streams', 'tail', 'msec', '--timeout', '300ms');
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: '' });
    expect(stderr).toBe('msec has topics below it: msec/ follows them\n');
  });

  test('a topic that is not there is told; --count not reached within --timeout is exit 3', async () => {
    const { exit, stderr } = await run('local', 'time', 'tail', 'nope/1', '--count', '1', '--timeout', '100ms');
    const told = 'time knows no topic nope/1 so far\n0 of 1 events came within 100ms\n';
    expect({ exit, stderr }).toEqual({ exit: 3, stderr: told });
  });

  test.each(['-1s', 'soon'])('--timeout %s is wrong usage', async (text) => {
    const { exit, stdout, stderr } = await run('local', 'time', 'tail', '--timeout', text);
    expect({ exit, stdout }).toEqual({ exit: 64, stdout: '' });
    expect(stderr).toMatch(/^infrakit: --timeout: .*\n$/);
  });

  test('a filter that MQTT does not allow is exit 1', async () => {
    const { exit, stderr } = await run('local', 'time', 'tail', 'a#');
    expect(exit).toBe(1);
    expect(stderr).toMatch(/^infrakit: .*#.*\n$/);
  });

  test('members of a group are followed under the name of their manager', async () => {
    const tail = begin(['local', 'mystack/cattle', 'tail', 'member/+', '-o', 'json', '--count', '1']);
    // Until it listens nobody knows; so members come until it has heard of one.
    for (let size = 3; (await Promise.race([tail.exit, delay(200)])) === undefined; size += 1) {
      await operator.scale('cattle', size);
    }
    expect(await tail.exit).toBe(0);
    expect(JSON.parse(tail.written.stdout)).toMatchObject({
      Topic: 'cattle/member/joined',
      Type: 'member',
      Data: { member: { ID: expect.any(String) } },
    });
  });
});

describe('event ls and event tail: topics begin with the name of their plugin', () => {
  test.each([
    [[], ['group', 'nfs', 'time']],
    [['time'], ['streams', 'timer']],
    [
      ['time/streams', '-l'],
      ['total 4:', 'hr', 'min', 'msec', 'sec'],
    ],
    [
      ['-a', 'time/streams'],
      ['total 9:', ...leaves],
    ],
    [
      ['group/cattle/member', 'time/timer/hr'],
      ['changed', 'joined', 'leaving', 'left', '1'],
    ],
  ])('event ls %j', async (args, expected) => {
    expect(await run('event', 'ls', ...args)).toEqual({ exit: 0, stdout: lines(...expected), stderr: '' });
  });

  test('event ls -a is everything that anybody publishes', async () => {
    const { exit, stdout } = await run('event', 'ls', '-a');
    expect(exit).toBe(0);
    expect(stdout.split('\n')).toEqual(
      expect.arrayContaining(['group/cattle/member/joined', ...leaves.map((leaf) => `time/streams/${leaf}`)]),
    );
  });

  test.each([
    [['ls', 'tmie/streams'], 127, 'no object is called tmie; did you mean time?'],
    [['tail', 'tmie'], 127, 'no object is called tmie; did you mean time?'],
    [['ls', 'time/none'], 1, 'there is no topic none'],
    [['ls', '/time'], 64, 'No absolute path'],
    [['tail', '+/x'], 64, 'a topic begins with the name of a plugin, not +/x'],
  ])('event %j is exit %i', async (args, exit, sentence) => {
    expect(await run('event', ...args)).toEqual({ exit, stdout: '', stderr: `infrakit: ${sentence}\n` });
  });

  test.each([[['time/streams/msec/100']], [['time/streams/msec/']], [['time/streams/+/100']], [['time/#']], [[]]])(
    'event tail %j',
    async (args) => {
      const { exit, stdout } = await run('event', 'tail', ...args, '--count', '3');
      expect(exit).toBe(0);
      expect(stdout).toMatch(/^(time\/(streams|timer)\/(msec|sec)\/\d+\t\d+\n){3}$/);
    },
  );
});

test('GP-E13: a broker that is gone is told, and the events go on once it is back', async () => {
  const other = await temporaryHome();
  const before = await startHere(['time'], { home: other.path });
  const tail = begin(['event', 'tail', 'time/streams/msec/100'], other);
  await tail.wrote('stdout', 'msec');
  await before.stop();
  await tail.wrote('stderr', 'the broker is lost');
  const heard = tail.written.stdout.length;
  const after = await startHere(['time'], { home: other.path });
  await tail.wrote('stdout', 'msec', heard);
  expect(tail.written.stderr).toContain('events may be missing: ');
  tail.interrupt();
  expect(await tail.exit).toBe(0);
  await after.stop();
  await other[Symbol.asyncDispose]();
});

test('GP §3.4: util track publishes which instances come and go, on the broker of the stack', async () => {
  const tracker = begin(['util', 'track', '--name', 'watcher', '-n', 'simulator/compute', '-i', '100ms']);
  await tracker.wrote('stderr', ' ready');
  expect((await run('event', 'ls', 'watcher/simulator/compute')).stdout).toBe(lines('error', 'found', 'lost'));
  const tail = begin(['event', 'tail', 'watcher/', '--count', '1', '--view', '{{.Topic}} {{.ID}} {{.Type}}']);
  for (let size = 1; (await Promise.race([tail.exit, delay(200)])) === undefined; size = size === 1 ? 4 : 1) {
    await operator.scale('cattle', size);
  }
  expect(tail.written.stdout).toMatch(/^simulator\/compute\/(lost|found) \S+ tracker\n$/);
  expect(await run('plugin', 'stop', 'watcher')).toMatchObject({ exit: 0 });
  expect(await tracker.exit).toBe(0);
});
