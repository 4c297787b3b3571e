import { type Allocation, type Health, type InstanceDescription, InstanceSpec } from '@infrakit/core';
import type { Flavor } from '../flavor.ts';
import {
  type ContractCase,
  type ContractContext,
  type ContractSuite,
  demand,
  demandEqual,
  demandRejects,
  eventually,
  skipUnless,
} from './contract-case.ts';
import { deadlineCases, type StallingWorld } from './deadline-cases.ts';

/** What the suite can see of and do to the world that a flavor looks at. */
export interface FlavorSubjectWorld extends StallingWorld {
  /** All that a call could change outside, as one value. */
  readonly snapshot?: () => Promise<unknown>;
  readonly setHealth?: (id: string, health: Health) => Promise<void>;
  readonly isDrained?: (id: string) => Promise<boolean>;
}

/** A flavor, and what the suite needs to know of it. */
export interface FlavorSubject {
  readonly flavor: Flavor;
  readonly properties: unknown;
  readonly allocation: Allocation;
  /** Properties with two faults or more, and a word for each that the error must hold. */
  readonly invalid?: { readonly properties: unknown; readonly words: readonly string[] };
  /** A member that the flavor can answer for, another one for each number. */
  readonly member: (n: number) => InstanceDescription;
  /** Whether prepare only adds to Init and Attachments, as vanilla and combo do (GP §2.9). */
  readonly isAdditive: boolean;
  /** Whether the same question to prepare gets the same answer. */
  readonly isRepeatable: boolean;
  readonly isEventuallyConsistent: boolean;
  readonly world?: FlavorSubjectWorld;
}

const given: InstanceSpec = {
  Properties: { size: 1 },
  Tags: { 'infrakit.group': 'cattle', 'infrakit.slot': '3', colour: 'blue' },
  Init: 'echo the init that was given',
  LogicalID: '10.0.0.3',
  Attachments: [{ ID: 'given-volume', Type: 'volume' }],
};

const prepare = async (
  { flavor, properties, allocation }: FlavorSubject,
  ctx: ContractContext,
  slot = 3,
): Promise<InstanceSpec> => {
  const index = { Group: 'cattle', Sequence: slot };
  const { spec } = await flavor.prepare({ properties, spec: given, allocation, index }, ctx);
  const parsed = InstanceSpec.safeParse(spec);
  if (!parsed.success) demand(false, `prepare must answer an instance spec: ${parsed.error.message}`);
  return parsed.data ?? given;
};

const healthOf = async (
  { flavor, properties }: FlavorSubject,
  ctx: ContractContext,
  instances: InstanceDescription[],
): Promise<readonly { readonly id: string; readonly health: Health }[]> =>
  (await flavor.healthy({ properties, instances }, ctx)).health;

const count = <T>(list: readonly T[], isCounted: (item: T) => boolean): number => list.filter(isCounted).length;

const validateCases: readonly ContractCase<FlavorSubject>[] = [
  {
    name: 'validate accepts valid properties',
    cites: 'GP §2.3',
    run: async ({ flavor, properties, allocation }, ctx) => {
      await flavor.validate({ properties, allocation }, ctx);
    },
  },
  {
    name: 'validate names every fault at once',
    cites: 'GP §2.3',
    run: async ({ flavor, invalid, allocation }, ctx) => {
      skipUnless(invalid, 'the subject knows no invalid properties');
      const { message } = await demandRejects(
        flavor.validate({ properties: invalid.properties, allocation }, ctx),
        ['FLAVOR_INVALID'],
        'validate of invalid properties',
      );
      for (const word of invalid.words) {
        demand(message.includes(word), `validate must name every fault at once; ${word} is not in: ${message}`);
      }
    },
  },
];

const prepareCases: readonly ContractCase<FlavorSubject>[] = [
  {
    name: 'prepare keeps the tags it was given',
    cites: 'GP §2.3',
    run: async (subject, ctx) => {
      const { Tags } = await prepare(subject, ctx);
      for (const [key, value] of Object.entries(given.Tags)) {
        demand(Object.hasOwn(Tags, key), `prepare must keep the tag ${key}`);
        if (key.startsWith('infrakit.')) demandEqual(Tags[key], value, `the tag ${key}, which is not the flavor's,`);
      }
    },
  },
  {
    name: 'prepare keeps the logical id',
    cites: 'GP §2.9',
    run: async (subject, ctx) => {
      demandEqual((await prepare(subject, ctx)).LogicalID, given.LogicalID, 'the LogicalID of a prepared spec');
    },
  },
  {
    name: 'prepare keeps the Init it was given, once',
    cites: 'GP-F2',
    run: async (subject, ctx) => {
      skipUnless(subject.isAdditive, 'the flavor replaces Init');
      const { Init } = await prepare(subject, ctx);
      demandEqual(Init.split(given.Init).length - 1, 1, 'how often a prepared Init holds the given one');
    },
  },
  {
    name: 'prepare keeps the attachments it was given, once',
    cites: 'GP-F2',
    run: async (subject, ctx) => {
      skipUnless(subject.isAdditive, 'the flavor replaces attachments');
      const { Attachments } = await prepare(subject, ctx);
      const times = count(Attachments ?? [], ({ ID }) => ID === 'given-volume');
      demandEqual(times, 1, 'how often a prepared spec holds the given attachment');
    },
  },
  {
    name: 'prepare remembers nothing of other members',
    cites: 'GP-F2',
    run: async (subject, ctx) => {
      skipUnless(subject.isRepeatable, 'the flavor answers anew each time');
      const first = await prepare(subject, ctx, 1);
      await prepare(subject, ctx, 2);
      demandEqual(await prepare(subject, ctx, 1), first, 'the second answer to the same question to prepare');
    },
  },
  {
    name: 'prepare has no effect outside',
    cites: 'GP §2.3',
    run: async (subject, ctx) => {
      skipUnless(subject.world?.snapshot, 'the subject cannot show its world');
      const before = await subject.world.snapshot();
      await prepare(subject, ctx);
      demandEqual(await subject.world.snapshot(), before, 'the world after prepare');
    },
  },
];

const healthCases: readonly ContractCase<FlavorSubject>[] = [
  {
    name: 'healthy answers for every member, in the order asked',
    cites: 'GP §2.3',
    run: async (subject, ctx) => {
      const members = Array.from({ length: 50 }, (_, n) => subject.member((n * 37) % 50));
      const answered = (await healthOf(subject, ctx, members)).map(({ id }) => id);
      demandEqual(
        answered,
        members.map(({ ID }) => ID),
        'the ids that healthy answers for',
      );
    },
  },
  {
    name: 'healthy of nobody is an empty list',
    cites: 'GP §2.3',
    run: async (subject, ctx) => demandEqual(await healthOf(subject, ctx, []), [], 'the health of no members'),
  },
  {
    name: 'a member that nobody knows does not hide the others',
    cites: 'Law 5',
    run: async (subject, ctx) => {
      const stranger = { ID: 'never-there', LogicalID: null, Tags: null };
      const [first, second] = [subject.member(1), subject.member(2)];
      const answered = await healthOf(subject, ctx, [first, stranger, second]);
      const alone = await healthOf(subject, ctx, [first, second]);
      const known = answered.filter(({ id }) => id !== stranger.ID);
      demandEqual(known, alone, 'the health of two members asked about beside one that nobody knows');
      demandEqual(answered.length, 3, 'the number of answers to a question about three members');
    },
  },
  {
    name: 'health is that of the member, and follows the world',
    cites: 'GP §2.3',
    run: async (subject, ctx) => {
      const { world, isEventuallyConsistent } = subject;
      skipUnless(world?.setHealth, 'the subject cannot change the health of a member');
      const [first, second] = [subject.member(1), subject.member(2)];
      for (const [one, two] of [
        ['healthy', 'unhealthy'],
        ['unhealthy', 'healthy'],
      ] as const) {
        await world.setHealth(first.ID, one);
        await world.setHealth(second.ID, two);
        await eventually(ctx, isEventuallyConsistent, async () => {
          const health = (await healthOf(subject, ctx, [first, second])).map((answer) => answer.health);
          demandEqual(health, [one, two], 'the health of two members');
        });
      }
    },
  },
];

const drainCases: readonly ContractCase<FlavorSubject>[] = [
  {
    name: 'drain can be called again for the same member',
    cites: 'GP §2.3',
    run: async ({ flavor, properties, member, world }, ctx) => {
      const instance = member(1);
      await flavor.drain({ properties, instance }, ctx);
      await flavor.drain({ properties, instance }, ctx);
      const isDrained = await world?.isDrained?.(instance.ID);
      demand(isDrained !== false, 'a member must be drained when drain has answered');
    },
  },
  {
    name: 'drain touches no other member',
    cites: 'GP §2.3',
    run: async ({ flavor, properties, member, world }, ctx) => {
      skipUnless(world?.isDrained, 'the subject cannot tell who was drained');
      await flavor.drain({ properties, instance: member(1) }, ctx);
      demandEqual(await world.isDrained(member(2).ID), false, 'whether a member was drained together with another one');
    },
  },
];

/** What every flavor owes (GP §2.3). */
export const flavorContract: ContractSuite<FlavorSubject> = {
  name: 'Flavor',
  cases: [
    ...validateCases,
    ...prepareCases,
    ...healthCases,
    ...drainCases,
    ...deadlineCases((subject: FlavorSubject, ctx) =>
      subject.flavor.healthy({ properties: subject.properties, instances: [subject.member(1)] }, ctx),
    ),
  ],
};
