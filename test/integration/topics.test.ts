import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Connection, connectMqtt } from '@infrakit/bus';
import { controllerInterface, type EventSource, eventInterface, realAfter, testingContext } from '@infrakit/spi';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHere, type TemporaryHome, temporaryHome } from '../e2e/hosts.ts';
import { brokerOf, connectOperator, eventually, type Operator } from '../e2e/operator.ts';
import { cattle, cattleNfs, plugins } from '../e2e/specs.ts';
import { follows } from '../e2e/stack.ts';

const page = new URL('../../packages/README.md', import.meta.url);
const kindOf = {
  time: 'time',
  group: 'group',
  nfs: 'enrollment',
  tracker: 'tracker',
  tailer: 'tailer',
  repeater: 'repeater',
} as const;
const isPlugin = (name: string | undefined): name is keyof typeof kindOf => name !== undefined && name in kindOf;

/** A topic as the page writes it, as a regular expression. */
const patternOf = (topic: string): RegExp => {
  const escaped = topic.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/<[^<>]*\/>/g, '.+').replace(/<[^<>]*>/g, '[^/]+')}$`);
};

const quiet = (): void => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };

let home: TemporaryHome;
let host: Awaited<ReturnType<typeof startHere>>;
let operator: Operator;
let listener: Connection;
let families: readonly RegExp[];
let events: readonly { readonly kind: string; readonly topic: string }[];
const heard = new Set<string>();

beforeAll(async () => {
  const text = await readFile(page, 'utf8');
  families = [...text.matchAll(/^\| `(infrakit\/[^`]+)`/gm)].map(([, topic = '']) => patternOf(topic));
  events = [...text.matchAll(/^\| `([a-z-]+)` +\| `([^`]+)` +\|/gm)].map(([, kind = '', topic = '']) => ({
    kind,
    topic,
  }));
  home = await temporaryHome();
  const file = join(home.path, 'some.log');
  await writeFile(file, '');
  host = await startHere([...plugins, 'tracker', 'tailer', 'repeater'], {
    home: home.path,
    pluginOptions: {
      tracker: { Plugins: ['simulator/compute'], Interval: '100ms' },
      tailer: { Files: [{ Path: file }] },
    },
  });
  const address = await brokerOf(home.path);
  listener = await connectMqtt(
    { address, clientId: 'plain-listener', version: '3.1.1' },
    { after: realAfter, random: Math.random, log },
  );
  let found = 0;
  await listener
    .subscribe('#', 0, ({ topic }) => {
      heard.add(topic);
      if (topic.endsWith('compute/found')) found += 1;
    })
    .ready();
  operator = await connectOperator(address);
  await operator.commit(cattle(3));
  await operator.commit(cattleNfs());
  await follows(operator, 3);
  // Every event is larger than the rule takes.
  const properties = {
    Source: 'time',
    Sink: { Protocol: 'stderr' },
    Rules: [{ sourcetopic: 'timer/sec/1', MaxSize: 1 }],
  };
  const spec = { kind: 'event-repeater', metadata: { name: 'out' }, properties };
  await operator.plugins.resolve(controllerInterface, 'repeater').commit({ spec, revision: 1 }, testingContext());
  // The tracker looks from time to time: it loses only what it has seen.
  await eventually('all that the tracker finds', 30_000, async () => found >= 3 || undefined);
  await operator.scale('cattle', 1);
  await follows(operator, 1);
  await eventually('lines, ticks, and instances that went', 30_000, async () => {
    await appendFile(file, 'a line\n');
    const topics = [...heard];
    const isThere = (end: string): boolean => topics.some((topic) => topic.endsWith(end));
    return ['some.log', 'timer/sec/1', 'compute/lost', 'cattle/member/left', 'out/dropped'].every(isThere) || undefined;
  });
});
afterAll(async () => {
  await operator[Symbol.asyncDispose]();
  await listener.close();
  await host.stop();
  await home[Symbol.asyncDispose]();
});

/** Whether the page has an event of a plugin; the name of its kind tells which rows count. */
const isOnPage = (plugin: string, topic: string): boolean =>
  isPlugin(plugin) && events.some((row) => row.kind === kindOf[plugin] && patternOf(row.topic).test(topic));

test('the page has every topic that a stack publishes', () => {
  expect([...heard].filter((topic) => !families.some((family) => family.test(topic)))).toEqual([]);
  const unknown = [...heard].filter((topic) => {
    const [, family, plugin = '', ...rest] = topic.split('/');
    return family === 'events' && !isOnPage(plugin, rest.join('/'));
  });
  expect(unknown).toEqual([]);
});

test('each family of topics was heard, so that the page has none too many', () => {
  expect(families.filter((family) => ![...heard].some((topic) => family.test(topic)))).toEqual([]);
});

const leavesOf = async (source: EventSource, topic = ''): Promise<string[]> => {
  const { nodes } = await source.list({ topic }, testingContext());
  if (nodes === null || nodes.length === 0) return topic === '' ? [] : [topic];
  return (await Promise.all(nodes.map((node) => leavesOf(source, topic === '' ? node : `${topic}/${node}`)))).flat();
};

test.each(Object.keys(kindOf))(
  'GP-E12: what %s says it publishes is on the page, and the page has no more of it',
  async (plugin) => {
    const topics = await leavesOf(operator.plugins.resolve(eventInterface, plugin));
    expect(topics.filter((topic) => !isOnPage(plugin, topic))).toEqual([]);
    const rows = events.filter(({ kind }) => isPlugin(plugin) && kind === kindOf[plugin]);
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.filter((row) => !topics.some((topic) => patternOf(row.topic).test(topic)))).toEqual([]);
  },
);
