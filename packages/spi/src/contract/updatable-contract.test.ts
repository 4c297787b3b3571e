import { AppError, digest } from '@infrakit/core';
import { describe, expect, test } from 'vitest';
import type { Updatable } from '../metadata.ts';
import { type MemoryMetadataWorld, memoryMetadata, memoryMetadataWorld } from '../reference/memory-metadata.ts';
import { runContract } from './run-contract.ts';
import { realAfter } from './testing-context.ts';
import { type UpdatableSubject, updatableContract } from './updatable-contract.ts';

type Wrap = (metadata: Updatable, world: MemoryMetadataWorld) => Updatable;

const document = { cluster: { name: 'blue' }, scratch: {} };

const subject =
  (wrap: Wrap = (metadata) => metadata) =>
  async (): Promise<UpdatableSubject & AsyncDisposable> => {
    const world = memoryMetadataWorld(document);
    const start = (): Updatable => wrap(memoryMetadata(world).metadata, world);
    let metadata = start();
    return {
      get metadata() {
        return metadata;
      },
      known: [{ path: 'cluster/name', value: 'blue', keys: [] }],
      scratch: 'scratch',
      isEventuallyConsistent: false,
      world: {
        change: async () => {
          world.set({ cluster: { name: 'green' }, scratch: {} });
          return 'green';
        },
        stall: async () => {
          const goOn = world.stall();
          return async () => goOn();
        },
      },
      restart: async () => {
        metadata = start();
      },
      [Symbol.asyncDispose]: async () => undefined,
    };
  };

const run = async (wrap?: Wrap) => {
  const results = await runContract(updatableContract, subject(wrap), { after: realAfter, caseTimeoutMs: 2_000 });
  expect(results.filter(({ kind }) => kind === 'skipped')).toEqual([]);
  return results.filter(({ kind }) => kind === 'failed').map(({ name }) => name);
};

/** A commit that goes by a lock of its own making: no refusal unless `isStale` says so. */
const commitsWhen = (
  metadata: Updatable,
  world: MemoryMetadataWorld,
  isStale: (cas: string) => boolean,
): Updatable => ({
  ...metadata,
  commit: async ({ proposed, cas }, ctx) => {
    await world.enter(ctx);
    if (isStale(cas)) throw new AppError('METADATA_CONFLICT', 'stale');
    world.set(proposed);
    return {};
  },
});

const overtaken = 'a proposal that another commit overtook is refused';
const changedBehind = 'a proposal that the world overtook is refused';
const race = 'of two commits at once one wins';
const belongs = 'a cas belongs to its proposal';

/** One broken thing each, and all cases that notice. */
const broken: readonly (readonly [what: string, notice: readonly string[], wrap: Wrap])[] = [
  [
    'writes what is only proposed',
    [
      'changes writes nothing, and shows what is there',
      'commit writes exactly the proposal',
      'maps merge and lists are replaced',
      'a commit leaves the rest of the tree alone',
      'of changes to one path the last counts',
      overtaken,
      race,
      'what was committed outlives a restart',
    ],
    (metadata, world) => ({
      ...metadata,
      changes: async (params, ctx) => {
        const answer = await metadata.changes(params, ctx);
        world.set(answer.proposed);
        return answer;
      },
    }),
  ],
  [
    'writes nothing at all',
    [
      'commit writes exactly the proposal',
      'maps merge and lists are replaced',
      'a commit leaves the rest of the tree alone',
      'of changes to one path the last counts',
      overtaken,
      changedBehind,
      race,
      belongs,
      'what was committed outlives a restart',
    ],
    (metadata) => ({ ...metadata, commit: async () => ({}) }),
  ],
  [
    'looks at no lock',
    [overtaken, changedBehind, race, belongs],
    (metadata, world) => commitsWhen(metadata, world, () => false),
  ],
  [
    'locks the document and not the proposal',
    [belongs],
    (metadata, world) => {
      const cas = () => JSON.stringify(world.get());
      const locked = commitsWhen(metadata, world, (given) => given !== cas());
      return { ...locked, changes: async (params, ctx) => ({ ...(await metadata.changes(params, ctx)), cas: cas() }) };
    },
  ],
  [
    'locks the proposal and not the document',
    [overtaken, changedBehind, race],
    (metadata, world) => ({
      ...metadata,
      changes: async (params, ctx) => {
        const answer = await metadata.changes(params, ctx);
        return { ...answer, cas: JSON.stringify(answer.proposed) };
      },
      commit: async ({ proposed, cas }, ctx) => {
        await world.enter(ctx);
        if (cas !== JSON.stringify(proposed)) throw new AppError('METADATA_CONFLICT', 'another proposal');
        world.set(proposed);
        return {};
      },
    }),
  ],
  [
    'says another code than conflict',
    [overtaken, changedBehind, belongs],
    (metadata) => ({
      ...metadata,
      commit: (params, ctx) =>
        metadata.commit(params, ctx).catch(() => {
          throw new AppError('INTERNAL', 'cas mismatch');
        }),
    }),
  ],
  [
    'writes its own part of the tree only',
    ['commit writes exactly the proposal', 'a commit leaves the rest of the tree alone'],
    (metadata, world) => ({
      ...metadata,
      commit: async (params, ctx) => {
        const answer = await metadata.commit(params, ctx);
        world.set({ scratch: Object(params.proposed).scratch });
        return answer;
      },
    }),
  ],
  [
    'replaces maps',
    ['maps merge and lists are replaced'],
    (metadata) => ({
      ...metadata,
      changes: async ({ changes }, ctx) => {
        const { original, proposed } = await metadata.changes({ changes }, ctx);
        const replaced = structuredClone(proposed) as { scratch: Record<string, unknown> };
        for (const { path, value } of changes) {
          const [, key = '', deeper] = path.split('/');
          if (deeper === undefined) replaced.scratch[key] = value;
        }
        return { original, proposed: replaced, cas: digest([original, replaced]) };
      },
    }),
  ],
  [
    'appends lists',
    ['maps merge and lists are replaced'],
    (metadata) => ({
      ...metadata,
      changes: async ({ changes }, ctx) => {
        const appended = await Promise.all(
          changes.map(async ({ path, value }) => {
            const before = (await metadata.get({ path }, ctx)).value;
            return { path, value: Array.isArray(value) && Array.isArray(before) ? [...before, ...value] : value };
          }),
        );
        return metadata.changes({ changes: appended }, ctx);
      },
    }),
  ],
  [
    'takes the first of two changes',
    ['of changes to one path the last counts'],
    (metadata) => ({
      ...metadata,
      changes: ({ changes }, ctx) => metadata.changes({ changes: changes.toReversed() }, ctx),
    }),
  ],
  [
    'forgets commits at a restart',
    ['what was committed outlives a restart'],
    (metadata, world) => {
      world.set(document);
      return metadata;
    },
  ],
];

describe('the updatable contract', () => {
  test('the memory tree passes every case', async () => {
    expect(await run()).toEqual([]);
  });

  test.each(broken)('an updatable tree that %s fails', async (_, notice, wrap) => {
    expect(await run(wrap)).toEqual(notice);
  });
});
