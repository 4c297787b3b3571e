import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ChildHost, startChild, type TemporaryHome, temporaryHome } from '../../../test/e2e/hosts.ts';
import { eventually } from '../../../test/e2e/operator.ts';
import { type Mosquitto, startMosquitto } from '../../../test/integration/mosquitto.ts';
import { type Collector, collect } from '../../../test/integration/repeater-scene.ts';
import { runProgram } from './program.ts';

let home: TemporaryHome;
let sink: Mosquitto;
let host: ChildHost;
let got: Collector;
const ends: (() => Promise<unknown>)[] = [];

const startHost = (): Promise<ChildHost> =>
  startChild(['manager:mystack', 'group', 'time', 'repeater'], {
    home: home.path,
    variables: { INFRAKIT_MANAGER_CONTROLLERS: 'repeater' },
  });

beforeEach(async () => {
  home = await temporaryHome();
  sink = await startMosquitto();
  host = await startHost();
  got = await collect(sink.port);
});
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
  await got[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

const begin = (...args: readonly string[]) => {
  const written = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof written) => ({
    write: (text: string) => {
      written[name] += text;
    },
  });
  const abort = new AbortController();
  const exit = runProgram(args, {
    streams: { stdout: stream('stdout'), stderr: stream('stderr'), stdin: async () => '' },
    env: { INFRAKIT_HOME: home.path },
    signal: abort.signal,
  });
  const stop = (): Promise<number> => {
    abort.abort();
    return exit;
  };
  return { written, exit, stop };
};
const run = async (...args: readonly string[]) => {
  const { exit, written } = begin(...args);
  return { exit: await exit, ...written };
};

const repeat = async (name: string) => {
  const running = begin('util', 'event-repeater', 'run', '--name', name, '--sink', sink.url);
  ends.push(running.stop);
  await eventually('it is ready', 30_000, async () => running.written.stderr.includes('info ready') || undefined);
  return running;
};
const manage = (...args: readonly string[]) => run('util', 'event-repeater', 'manage', '--name', 'bridge', ...args);
const list = async () => JSON.parse((await manage('get')).stdout);
const value = (...rules: readonly object[]) => ['--value', JSON.stringify(rules)];
const came = (topic: string): Promise<true> =>
  eventually(topic, 30_000, async () => got.messages.some((message) => message.topic === topic) || undefined);
const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

const commit = async (Rules: readonly object[]): Promise<void> => {
  const file = join(home.path, 'bridge.json');
  const properties = { Source: 'time', Sink: { URL: sink.url, QoS: 0 }, Rules };
  await writeFile(file, JSON.stringify({ kind: 'event-repeater', metadata: { name: 'bridge' }, properties }));
  expect(await run('local', 'mystack/repeater', 'commit', file)).toMatchObject({ exit: 0 });
};
/** The spec as the manager has it, as JSON; what its rules do meanwhile is beside the point. */
const specOf = async (): Promise<string> => {
  const [object] = JSON.parse((await run('local', 'mystack/repeater/bridge', 'describe', '--raw')).stdout);
  return JSON.stringify(object.properties, null, 1);
};

test('GP-R14: where a manager holds the name, rules are those of its spec, changed by commits, and there is no other journal', async () => {
  await commit([{ sourcetopic: 'timer/msec/100', sinktopic: 'one', MaxSize: 10_000 }]);
  await came('one');
  const running = await repeat('bridge');
  expect(await list()).toMatchObject([{ sourcetopic: 'timer/msec/100', sinktopic: 'one' }]);

  expect(await manage('post', ...value({ sourcetopic: 'streams/msec/100', sinktopic: 'two' }))).toMatchObject({
    exit: 0,
    stderr: '',
  });
  await came('two');
  expect(await manage('post', ...value({ sourcetopic: 'streams/msec/100' }))).toMatchObject({
    exit: 1,
    stderr: 'infrakit: there is a rule for this already: streams/msec/100 (HTTP 409)\n',
  });
  expect((await manage('put', ...value({ sourcetopic: 'timer/msec/100', sinktopic: 'other' }))).exit).toBe(0);
  await came('other');
  expect((await manage('delete', ...value({ sourcetopic: 'streams/msec/100' }))).exit).toBe(0);
  expect(await manage('delete', ...value({ sourcetopic: 'nope' }))).toMatchObject({
    exit: 1,
    stderr: 'infrakit: there is no rule for this: nope (HTTP 404)\n',
  });
  expect((await manage('put', ...value({ sourcetopic: 'timer/sec/1', sinktopic: 'x/#/y' }))).stderr).toMatch(
    /^infrakit: .*timer\/sec\/1.* \(HTTP 400\)\n$/,
  );
  expect((await manage('put', ...value({ sourcetopic: '.', sinktopic: '.' }))).exit).toBe(0);
  await came('timer/msec/500');
  await eventually('both are active', 30_000, async () => {
    const states = (await list()).map(({ state }: { state: string }) => state);
    return (states.length === 2 && states.every((state: string) => state === 'active')) || undefined;
  });

  const spec = await specOf();
  expect(spec).toMatch(/"AllowAll": true/);
  expect(spec).toMatch(/"sinktopic": "other"/);
  expect(spec).toMatch(/"MaxSize": 10000/);
  expect(spec).not.toMatch(/streams\/msec\/100/);
  expect(await isThere(join(home.path, 'event-repeater'))).toBe(false);

  // The manager brings them back, with nobody there who serves them.
  expect(await running.stop()).toBe(0);
  await host[Symbol.asyncDispose]();
  host = await startHost();
  const { length } = got.messages;
  await eventually(
    'they go on',
    30_000,
    async () => got.messages.slice(length).some(({ topic }) => topic === 'other') || undefined,
  );
}, 120_000);

test('another name is kept here, in a journal of its own', async () => {
  await commit([]);
  await repeat('here');
  const added = await run(
    ...['util', 'event-repeater', 'manage', '--name', 'here', 'post'],
    ...value({ sourcetopic: 'timer/msec/100', sinktopic: 'mine' }),
  );
  expect(added.exit).toBe(0);
  await came('mine');
  expect(await isThere(join(home.path, 'event-repeater', 'here', 'rules'))).toBe(true);
  expect(await specOf()).not.toMatch(/mine/);
}, 120_000);
