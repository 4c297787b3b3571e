import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { parseBrokerUrl } from '@infrakit/core';
import { expect, test } from 'vitest';
import { mosquittoSub } from '../integration/embedded.ts';
import { type Mosquitto, startMosquitto } from '../integration/mosquitto.ts';
import { requireProgram } from '../programs.mjs';
import { startHere, temporaryHome } from './hosts.ts';
import { brokerOf, connectOperator, eventually, type Operator } from './operator.ts';
import { plugins } from './specs.ts';
import { follows, hasMembers, mainJob } from './stack.ts';

/** Which plugins run in one process, and which in the other. */
const groupsSide = ['manager:mystack', 'group', 'combo', 'vanilla', 'simulator'];
const enrollmentSide = ['simulator:nfs-auth', 'enrollment:nfs', 'time'];

const startBroker = (): Promise<Mosquitto> => startMosquitto({ config: ['max_queued_messages 0'] });

/** Who is in a group as a plain MQTT client sees it: the line of DESIGN §3. */
const membersOnBus = async (port: number, group: string): Promise<string[]> => {
  const topic = `infrakit/members/group/${group}/+`;
  const { stdout } = await mosquittoSub('-p', String(port), '-t', topic, '--retained-only', '-W', '1');
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line).ID)
    .sort();
};

/** Follows a filter as a plain MQTT client does: a line a message, with its topic in front. */
const followOnBus = (port: number, filter: string) => {
  const args = ['-p', String(port), '-v', '-t', filter];
  const child = spawn(requireProgram('mosquitto_sub'), args, { stdio: ['ignore', 'pipe', 'ignore'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  return {
    lines: () => text.split('\n').slice(0, -1),
    [Symbol.asyncDispose]: async () => {
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    },
  };
};

/** The main job of issue 5: scale up, down, and nobody else is touched. */
const scales = async (operator: Operator): Promise<void> => {
  await mainJob(operator);
  await operator.scale('cattle', 20);
  await follows(operator, 20);
  await operator.scale('cattle', 8);
  await follows(operator, 8);
  await hasMembers(operator, 'miners', 5);
};

test('the main job on real mosquitto (issue 5)', async () => {
  await using broker = await startBroker();
  await using home = await temporaryHome();
  await using _host = await startHere(plugins, { home: home.path, broker: broker.url });
  await using operator = await connectOperator(parseBrokerUrl(broker.url));
  await scales(operator);
});

test('groups in one host, enrollment in another, that joins the broker of the same home', async () => {
  await using home = await temporaryHome();
  await using _groups = await startHere(groupsSide, { home: home.path });
  await using _enrollment = await startHere(enrollmentSide, { home: home.path });
  await using operator = await connectOperator(await brokerOf(home.path));
  await scales(operator);
});

test('groups and enrollment in hosts with homes of their own, on one mosquitto', async () => {
  await using broker = await startBroker();
  await using here = await temporaryHome();
  await using there = await temporaryHome();
  await using _groups = await startHere(groupsSide, { home: here.path, broker: broker.url });
  await using _enrollment = await startHere(enrollmentSide, { home: there.path, broker: broker.url });
  await using operator = await connectOperator(parseBrokerUrl(broker.url));
  await scales(operator);
});

test('mosquitto stops for 5 s in the middle of a scale: afterwards everything follows, nobody is made twice', async () => {
  await using broker = await startBroker();
  await using home = await temporaryHome();
  await using _host = await startHere(plugins, { home: home.path, broker: broker.url });
  await using operator = await connectOperator(parseBrokerUrl(broker.url));
  await mainJob(operator);
  const before = await operator.members('cattle');
  const scaling = operator.scale('cattle', 20).catch(() => undefined);
  await broker.stop();
  await delay(5_000);
  await broker.start();
  await scaling;
  await eventually('an answer', 15_000, () => operator.size('cattle'));
  await operator.scale('cattle', 20);
  expect(await follows(operator, 20, 15_000)).toEqual(expect.arrayContaining(before));
  expect(await operator.instances('simulator/compute', { 'infrakit.group': 'cattle' })).toHaveLength(20);
}, 60_000);

test('mosquitto restarts with no memory: the bus is whole again, without a restart of ours', async () => {
  await using broker = await startBroker();
  await using home = await temporaryHome();
  await using _host = await startHere(plugins, { home: home.path, broker: broker.url });
  await using operator = await connectOperator(parseBrokerUrl(broker.url));
  await mainJob(operator);
  const before = await operator.members('cattle');
  const listed = () => membersOnBus(broker.port, 'cattle');
  await eventually('the members on the bus', 5_000, async () => ((await listed()).length === 10 ? true : undefined));
  await broker.restart();
  await eventually('the members on the bus again', 10_000, async () =>
    (await listed()).join() === before.join() ? true : undefined,
  );
  await operator.scale('cattle', 12);
  expect(await follows(operator, 12)).toEqual(expect.arrayContaining(before));
}, 60_000);

test.each([['the embedded broker'], ['mosquitto']])('the mosquitto_sub lines of DESIGN §3 on %s', async (kind) => {
  await using broker = kind === 'mosquitto' ? await startBroker() : undefined;
  await using home = await temporaryHome();
  await using host = await startHere(plugins, {
    home: home.path,
    ...(broker === undefined ? {} : { broker: broker.url }),
  });
  await using operator = await connectOperator(await brokerOf(home.path));
  const port = broker?.port ?? Number(new URL(host.url ?? '').port);
  await mainJob(operator);
  const members = await operator.members('cattle');
  await eventually('mosquitto_sub lists the group', 30_000, async () =>
    (await membersOnBus(port, 'cattle')).join() === members.join() ? true : undefined,
  );
  await using everything = followOnBus(port, 'infrakit/events/#');
  const joined = () =>
    everything
      .lines()
      .filter((line) => line.startsWith('infrakit/events/group/cattle/member/joined '))
      .map((line) => JSON.parse(line.slice(line.indexOf(' ') + 1)).ID);
  // Ticks come as soon as it is subscribed.
  await eventually('it listens', 30_000, async () => everything.lines().length > 0 || undefined);
  await operator.scale('cattle', 12);
  const after = await follows(operator, 12);
  const came = after.filter((id) => !members.includes(id));
  await eventually('an event of each', 30_000, async () => joined().length >= came.length || undefined);
  expect(joined().sort()).toEqual(came);
});
