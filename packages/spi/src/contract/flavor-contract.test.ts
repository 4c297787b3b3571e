import { describe, expect, test } from 'vitest';
import type { Flavor } from '../flavor.ts';
import { type MemoryFlavorWorld, memoryFlavor } from '../reference/memory-flavor.ts';
import { type FlavorSubject, flavorContract } from './flavor-contract.ts';
import { runContract } from './run-contract.ts';
import { realAfter } from './testing-context.ts';

type Wrap = (flavor: Flavor, world: MemoryFlavorWorld) => Flavor;

const subject =
  (wrap: Wrap = (flavor) => flavor) =>
  async (): Promise<FlavorSubject & AsyncDisposable> => {
    const { flavor, world } = memoryFlavor();
    return {
      flavor: wrap(flavor, world),
      properties: { Tags: { colour: 'red' }, Init: ['echo more'], Attachments: [{ ID: 'v2', Type: 'volume' }] },
      allocation: { Size: 5 },
      invalid: { properties: { Init: 'no list', Tags: 7 }, words: ['Init', 'Tags'] },
      member: (n) => ({ ID: `i-${n}`, LogicalID: null, Tags: {} }),
      isAdditive: true,
      isRepeatable: true,
      isEventuallyConsistent: false,
      world: {
        snapshot: async () => world.drained(),
        setHealth: async (id, health) => world.setHealth(id, health),
        isDrained: async (id) => world.drained().includes(id),
        stall: async () => {
          const goOn = world.stall();
          return async () => goOn();
        },
      },
      [Symbol.asyncDispose]: async () => undefined,
    };
  };

const run = async (wrap?: Wrap) => {
  const results = await runContract(flavorContract, subject(wrap), { after: realAfter, caseTimeoutMs: 2_000 });
  expect(results.filter(({ kind }) => kind === 'skipped')).toEqual([]);
  return results.filter(({ kind }) => kind === 'failed').map(({ name }) => name);
};

type Prepared = Awaited<ReturnType<Flavor['prepare']>>;

const prepares = (flavor: Flavor, change: (prepared: Prepared) => Prepared): Flavor => ({
  ...flavor,
  prepare: async (params, ctx) => change(await flavor.prepare(params, ctx)),
});

type Answers = Awaited<ReturnType<Flavor['healthy']>>['health'];

const answers = (flavor: Flavor, change: (health: Answers) => Answers): Flavor => ({
  ...flavor,
  healthy: async (params, ctx) => ({ health: change((await flavor.healthy(params, ctx)).health) }),
});

/** One broken thing each, and all cases that notice. */
const broken: readonly (readonly [what: string, notice: readonly string[], wrap: Wrap])[] = [
  [
    'refuses everything',
    ['validate accepts valid properties'],
    (flavor) => ({
      ...flavor,
      validate: (_, ctx) => flavor.validate({ properties: { Init: 1, Tags: 1 }, allocation: {} }, ctx),
    }),
  ],
  [
    'validates nothing',
    ['validate names every fault at once'],
    (flavor) => ({ ...flavor, validate: async () => ({}) }),
  ],
  [
    'names one fault at a time',
    ['validate names every fault at once'],
    (flavor) => ({
      ...flavor,
      validate: ({ properties, allocation }, ctx) => {
        const { Tags: _, ...rest } = properties as Record<string, unknown>;
        return flavor.validate({ properties: rest, allocation }, ctx);
      },
    }),
  ],
  [
    'replaces the tags',
    ['prepare keeps the tags it was given'],
    (flavor) => prepares(flavor, ({ spec }) => ({ spec: { ...spec, Tags: { colour: 'red' } } })),
  ],
  [
    'changes a tag that is not its own',
    ['prepare keeps the tags it was given'],
    (flavor) =>
      prepares(flavor, ({ spec }) => ({ spec: { ...spec, Tags: { ...spec.Tags, 'infrakit.group': 'mine' } } })),
  ],
  [
    'loses the logical id',
    ['prepare keeps the logical id'],
    (flavor) => prepares(flavor, ({ spec }) => ({ spec: { ...spec, LogicalID: null } })),
  ],
  [
    'repeats the Init',
    ['prepare keeps the Init it was given, once'],
    (flavor) => prepares(flavor, ({ spec }) => ({ spec: { ...spec, Init: `${spec.Init}\n${spec.Init}` } })),
  ],
  [
    'repeats the attachments',
    ['prepare keeps the attachments it was given, once'],
    (flavor) =>
      prepares(flavor, ({ spec }) => ({
        spec: { ...spec, Attachments: [...(spec.Attachments ?? []), ...(spec.Attachments ?? [])] },
      })),
  ],
  [
    'piles up what it prepares',
    ['prepare remembers nothing of other members'],
    (flavor) => {
      let lines = '';
      return prepares(flavor, ({ spec }) => {
        lines += '\necho again';
        return { spec: { ...spec, Init: spec.Init + lines } };
      });
    },
  ],
  [
    'drains while it prepares',
    ['prepare has no effect outside'],
    (flavor) => ({
      ...flavor,
      prepare: async (params, ctx) => {
        const instance = { ID: 'other', LogicalID: null, Tags: null };
        await flavor.drain({ properties: params.properties, instance }, ctx);
        return flavor.prepare(params, ctx);
      },
    }),
  ],
  [
    'answers in its own order',
    ['healthy answers for every member, in the order asked'],
    (flavor) => answers(flavor, (health) => health.toSorted((left, right) => (left.id < right.id ? -1 : 1))),
  ],
  [
    'answers for a page',
    ['healthy answers for every member, in the order asked'],
    (flavor) => answers(flavor, (health) => health.slice(0, 20)),
  ],
  [
    'fails for all when one is unknown',
    ['a member that nobody knows does not hide the others'],
    (flavor) =>
      answers(flavor, (health) => {
        if (health.some(({ id }) => id === 'never-there')) throw new Error('no such member');
        return health;
      }),
  ],
  [
    'leaves an unknown member out',
    ['a member that nobody knows does not hide the others'],
    (flavor) => answers(flavor, (health) => health.filter(({ id }) => id !== 'never-there')),
  ],
  [
    'finds everybody healthy',
    ['health is that of the member, and follows the world'],
    (flavor) => answers(flavor, (health) => health.map(({ id }) => ({ id, health: 'healthy' }))),
  ],
  [
    'remembers the first health',
    ['health is that of the member, and follows the world'],
    (flavor) => {
      const seen = new Map<string, Answers[number]>();
      return answers(flavor, (health) =>
        health.map((answer) => {
          const first = seen.get(answer.id) ?? answer;
          seen.set(answer.id, first);
          return first;
        }),
      );
    },
  ],
  [
    'drains a member once only',
    ['drain can be called again for the same member'],
    (flavor, world) => ({
      ...flavor,
      drain: async (params, ctx) => {
        if (world.drained().includes(params.instance.ID)) throw new Error('already drained');
        return flavor.drain(params, ctx);
      },
    }),
  ],
  [
    'drains nothing',
    ['drain can be called again for the same member'],
    (flavor) => ({ ...flavor, drain: async () => ({}) }),
  ],
  [
    'drains the neighbour too',
    ['drain touches no other member'],
    (flavor) => ({
      ...flavor,
      drain: async (params, ctx) => {
        for (const ID of ['i-1', 'i-2']) {
          await flavor.drain({ ...params, instance: { ...params.instance, ID } }, ctx);
        }
        return {};
      },
    }),
  ],
  [
    'looks at no signal',
    ['a call whose caller has given up is refused', 'a call ends when its caller gives up, though the world hangs'],
    (flavor) => ({
      ...flavor,
      healthy: (params, ctx) => flavor.healthy(params, { ...ctx, signal: new AbortController().signal }),
    }),
  ],
];

describe('the flavor contract', () => {
  test('the memory flavor passes every case', async () => {
    expect(await run()).toEqual([]);
  });

  test.each(broken)('a flavor that %s fails', async (_, notice, wrap) => {
    expect(await run(wrap)).toEqual(notice);
  });
});
