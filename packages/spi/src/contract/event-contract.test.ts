import { describe, expect, test } from 'vitest';
import type { EventSource } from '../event.ts';
import { type MemoryEventWorld, memoryEventSource } from '../reference/memory-event-source.ts';
import { type EventSubject, eventContract } from './event-contract.ts';
import { runContract } from './run-contract.ts';
import { realAfter } from './testing-context.ts';

type Wrap = (source: EventSource, world: MemoryEventWorld) => EventSource;

const subject =
  (wrap: Wrap = (source) => source) =>
  async (): Promise<EventSubject & AsyncDisposable> => {
    const topics = ['storage/instance/delete', 'storage/instance/create', 'compute/instance/create', 'compute/alarm'];
    const { source, world } = memoryEventSource(topics);
    return {
      source: wrap(source, world),
      branches: {
        '': ['storage', 'compute'],
        storage: ['instance'],
        'storage/instance': ['delete', 'create'],
        compute: ['instance', 'alarm'],
      },
      leaf: 'compute/alarm',
      isEventuallyConsistent: false,
      world: {
        addTopic: async (topic) => world.addTopic(topic),
        stall: async () => {
          const goOn = world.stall();
          return async () => goOn();
        },
      },
      [Symbol.asyncDispose]: async () => undefined,
    };
  };

const run = async (wrap?: Wrap) => {
  const results = await runContract(eventContract, subject(wrap), { after: realAfter, caseTimeoutMs: 2_000 });
  expect(results.filter(({ kind }) => kind === 'skipped')).toEqual([]);
  return results.filter(({ kind }) => kind === 'failed').map(({ name }) => name);
};

type Nodes = string[] | null;

const lists = (source: EventSource, change: (nodes: Nodes, topic: string) => Nodes): EventSource => ({
  ...source,
  list: async (params, ctx) => ({ nodes: change((await source.list(params, ctx)).nodes, params.topic) }),
});

/** One broken thing each, and all cases that notice. */
const broken: readonly (readonly [what: string, notice: readonly string[], wrap: Wrap])[] = [
  [
    'lists in no order',
    [
      'a topic lists its children, sorted',
      'a slash at the end means the same topic',
      'everything listed is there, sorted, in single levels',
    ],
    (source) => lists(source, (nodes) => nodes?.toReversed() ?? null),
  ],
  [
    'drops a child',
    ['a topic lists its children, sorted', 'a slash at the end means the same topic'],
    (source) =>
      lists(source, (nodes, topic) =>
        topic === '' || topic === '.' || topic === '/' ? nodes : (nodes?.slice(0, 1) ?? null),
      ),
  ],
  [
    'does not know the root as a dot',
    ['the root goes by three names'],
    (source) => lists(source, (nodes, topic) => (topic === '.' ? null : nodes)),
  ],
  [
    'takes a last slash for a level',
    ['a slash at the end means the same topic'],
    (source) => lists(source, (nodes, topic) => (topic.length > 1 && topic.endsWith('/') ? null : nodes)),
  ],
  [
    'says null for a leaf',
    ['a leaf has an empty list', 'everything listed is there, sorted, in single levels'],
    (source) => lists(source, (nodes) => (nodes?.length === 0 ? null : nodes)),
  ],
  [
    'says nothing is there for what is not there',
    ['an unknown topic is null', 'part of a name is no topic'],
    (source) => lists(source, (nodes) => nodes ?? []),
  ],
  [
    'finds a topic by the start of its name',
    ['part of a name is no topic'],
    (source) => ({
      ...source,
      list: async (params, ctx) => {
        const answer = await source.list(params, ctx);
        if (answer.nodes !== null) return answer;
        const { nodes } = await source.list({ topic: '' }, ctx);
        const topic = nodes?.find((node) => params.topic !== '' && node.startsWith(params.topic));
        return topic === undefined ? answer : source.list({ topic }, ctx);
      },
    }),
  ],
  [
    'lists what is not there',
    ['a topic lists its children, sorted', 'everything listed is there, sorted, in single levels'],
    (source) =>
      lists(source, (nodes, topic) => (['', '.', '/'].includes(topic) ? [...(nodes ?? []), 'zombie'] : nodes)),
  ],
  [
    'lists whole topics below a topic',
    [
      'a topic lists its children, sorted',
      'a slash at the end means the same topic',
      'everything listed is there, sorted, in single levels',
    ],
    (source) =>
      lists(source, (nodes, topic) =>
        nodes?.includes('instance') && topic.startsWith('storage') ? ['instance/create', 'instance/delete'] : nodes,
      ),
  ],
  [
    'knows the topics of its start only',
    ['a topic that comes later is listed'],
    (source) =>
      lists(source, (nodes, topic) =>
        topic.startsWith('later') ? null : (nodes?.filter((node) => node !== 'later') ?? null),
      ),
  ],
  [
    'hands out its own list',
    ['what a caller does to a result changes nothing for others'],
    (source) => {
      const kept = new Map<string, Nodes>();
      return {
        ...source,
        list: async (params, ctx) => {
          const answer = await source.list(params, ctx);
          const key = `${params.topic} ${JSON.stringify(answer.nodes)}`;
          if (!kept.has(key)) kept.set(key, answer.nodes);
          return { nodes: kept.get(key) ?? null };
        },
      };
    },
  ],
  [
    'looks at no signal',
    ['a call whose caller has given up is refused', 'a call ends when its caller gives up, though the world hangs'],
    (source) => ({
      ...source,
      list: (params, ctx) => source.list(params, { ...ctx, signal: new AbortController().signal }),
    }),
  ],
];

describe('the event contract', () => {
  test('the memory event source passes every case', async () => {
    expect(await run()).toEqual([]);
  });

  test.each(broken)('an event source that %s fails', async (_, notice, wrap) => {
    expect(await run(wrap)).toEqual(notice);
  });
});
