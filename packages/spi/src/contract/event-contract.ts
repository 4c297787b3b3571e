import { compareUtf8 } from '@infrakit/core';
import type { EventSource } from '../event.ts';
import {
  type ContractCase,
  type ContractContext,
  type ContractSuite,
  demand,
  demandEqual,
  eventually,
  skipUnless,
} from './contract-case.ts';
import { deadlineCases, type StallingWorld } from './deadline-cases.ts';

/** What the suite can do to the topics of an event source. */
export interface EventSubjectWorld extends StallingWorld {
  /** Makes a topic known that was not. */
  readonly addTopic?: (topic: string) => Promise<void>;
}

/** An event source, and topics that the suite may ask it about. */
export interface EventSubject {
  readonly source: EventSource;
  /** Topics with their children in any order, the root (`''`) among them, each child of at least two characters. */
  readonly branches: Readonly<Record<string, readonly string[]>>;
  /** A topic below which there is nothing. */
  readonly leaf: string;
  readonly isEventuallyConsistent: boolean;
  readonly world?: EventSubjectWorld;
}

const nodesOf = async ({ source }: EventSubject, ctx: ContractContext, topic: string): Promise<string[] | null> =>
  (await source.list({ topic }, ctx)).nodes;

const sorted = (nodes: readonly string[]): string[] => nodes.toSorted(compareUtf8);

const below = (topic: string, node: string): string => (topic === '' ? node : `${topic}/${node}`);

const inner = ({ branches }: EventSubject): [topic: string, nodes: readonly string[]][] =>
  Object.entries(branches).filter(([topic]) => topic !== '');

/** How deep the walk over all topics goes. */
const depth = 4;

const walk = async (subject: EventSubject, ctx: ContractContext, topic: string, level: number): Promise<void> => {
  const nodes = await nodesOf(subject, ctx, topic);
  if (nodes === null)
    return demand(false, `the topic ${JSON.stringify(topic)} is listed by its parent, so it must be there`);
  demandEqual(
    nodes,
    sorted([...new Set(nodes)]),
    `the children of ${JSON.stringify(topic)}, sorted and without repetitions,`,
  );
  demand(
    nodes.every((node) => node !== '' && !node.includes('/')),
    `children of ${JSON.stringify(topic)} must be single, non-empty levels, not ${JSON.stringify(nodes)}`,
  );
  if (level < depth) for (const node of nodes) await walk(subject, ctx, below(topic, node), level + 1);
};

const cases: readonly ContractCase<EventSubject>[] = [
  {
    name: 'a topic lists its children, sorted',
    cites: 'EI §5.2',
    run: async (subject, ctx) => {
      for (const [topic, nodes] of Object.entries(subject.branches)) {
        demandEqual(await nodesOf(subject, ctx, topic), sorted(nodes), `the children of ${JSON.stringify(topic)}`);
      }
    },
  },
  {
    name: 'the root goes by three names',
    cites: 'EI §5.2',
    run: async (subject, ctx) => {
      const root = await nodesOf(subject, ctx, '');
      for (const name of ['.', '/'])
        demandEqual(await nodesOf(subject, ctx, name), root, `the children of the root as ${name}`);
    },
  },
  {
    name: 'a slash at the end means the same topic',
    cites: 'EI §5.2',
    run: async (subject, ctx) => {
      for (const [topic, nodes] of inner(subject)) {
        demandEqual(await nodesOf(subject, ctx, `${topic}/`), sorted(nodes), `the children of ${topic}/`);
      }
    },
  },
  {
    name: 'a leaf has an empty list',
    cites: 'EI §5.2',
    run: async (subject, ctx) =>
      demandEqual(await nodesOf(subject, ctx, subject.leaf), [], `the children of the leaf ${subject.leaf}`),
  },
  {
    name: 'an unknown topic is null',
    cites: 'EI §5.2',
    run: async (subject, ctx) => {
      for (const topic of ['never-there', 'never-there/below', below(subject.leaf, 'never-there')]) {
        const nodes = await nodesOf(subject, ctx, topic);
        demand(nodes === null, `the topic ${topic} is not there: its nodes must be null, not ${JSON.stringify(nodes)}`);
      }
    },
  },
  {
    name: 'part of a name is no topic',
    cites: 'EI §5.2',
    run: async (subject, ctx) => {
      for (const topic of [...inner(subject).map(([name]) => name), subject.leaf]) {
        for (const part of [topic.slice(0, -1), `${topic}r`]) {
          const nodes = await nodesOf(subject, ctx, part);
          demand(
            nodes === null,
            `${part} is not the topic ${topic}: its nodes must be null, not ${JSON.stringify(nodes)}`,
          );
        }
      }
    },
  },
  {
    name: 'everything listed is there, sorted, in single levels',
    cites: 'EI-V9',
    run: (subject, ctx) => walk(subject, ctx, '', 0),
  },
  {
    name: 'a topic that comes later is listed',
    cites: 'EI-V10',
    run: async (subject, ctx) => {
      skipUnless(subject.world?.addTopic, 'the subject cannot add a topic');
      await subject.world.addTopic('later/than/start');
      await eventually(ctx, subject.isEventuallyConsistent, async () => {
        demand((await nodesOf(subject, ctx, ''))?.includes('later'), 'the root must list a topic that was added later');
        demandEqual(
          await nodesOf(subject, ctx, 'later/than'),
          ['start'],
          'the children of a topic that was added later',
        );
      });
    },
  },
  {
    name: 'what a caller does to a result changes nothing for others',
    cites: 'EI-P5',
    run: async (subject, ctx) => {
      const before = await nodesOf(subject, ctx, '');
      const copy = [...(before ?? [])];
      try {
        before?.push('tampered');
      } catch {
        // A frozen result refuses; that is as good as a copy.
      }
      demandEqual(await nodesOf(subject, ctx, ''), copy, 'the root after a caller changed the list it got');
    },
  },
];

/** What every event source owes (EI §5.2). */
export const eventContract: ContractSuite<EventSubject> = {
  name: 'Event',
  cases: [...cases, ...deadlineCases(({ source }: EventSubject, ctx) => source.list({ topic: '' }, ctx))],
};
