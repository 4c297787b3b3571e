import { AppError } from '@infrakit/core';
import { describe, expect, test } from 'vitest';
import type { Instance } from '../instance.ts';
import { memoryInstanceSubject } from '../reference/memory-instance-subject.ts';
import type { MemoryWorld } from '../reference/memory-world.ts';
import { instanceChangeCases } from './instance-change-cases.ts';
import { runContract } from './run-contract.ts';
import { realAfter } from './testing-context.ts';

const refused = (code: 'INSTANCE_FAILED' | 'INSTANCE_NOT_FOUND', error: unknown): never => {
  throw error instanceof AppError && error.code === code ? new AppError('INTERNAL', 'something went wrong') : error;
};

const isAlive = (world: MemoryWorld) => (id: string) => world.find(id) !== undefined;

/** One broken thing each, and all cases that notice. */
const broken: readonly (readonly [
  what: string,
  notice: readonly string[],
  wrap: (instance: Instance, world: MemoryWorld) => Instance,
])[] = [
  [
    'looks at no deadline and no signal',
    ['a call ends when its caller gives up, though the world hangs'],
    (instance) => ({
      ...instance,
      describe: (params, ctx) => instance.describe(params, { ...ctx, signal: new AbortController().signal }),
    }),
  ],
  [
    'provisions for a caller that has given up',
    ['a call whose caller has given up has no effect'],
    (instance) => ({
      ...instance,
      provision: (params, ctx) => instance.provision(params, { ...ctx, signal: new AbortController().signal }),
    }),
  ],
  [
    'removes other tags with a label',
    ['label adds and overwrites, and removes nothing'],
    (instance, world) => ({
      ...instance,
      label: async ({ id, labels }, ctx) => {
        await instance.label({ id, labels }, ctx);
        const thing = world.find(id);
        const mark = Object.entries(thing?.description.Tags ?? {}).filter(([key]) => key.startsWith('infrakit.'));
        if (thing !== undefined) {
          world.put({
            ...thing,
            description: { ...thing.description, Tags: { ...Object.fromEntries(mark), ...labels } },
          });
        }
        return {};
      },
    }),
  ],
  [
    'never overwrites a tag',
    ['label adds and overwrites, and removes nothing'],
    (instance, world) => ({
      ...instance,
      label: ({ id, labels }, ctx) =>
        instance.label({ id, labels: { ...labels, ...world.find(id)?.description.Tags } }, ctx),
    }),
  ],
  [
    'labels them all',
    ['label touches no other instance'],
    (instance, world) => ({
      ...instance,
      label: async ({ id, labels }, ctx) => {
        await instance.label({ id, labels }, ctx);
        for (const { ID } of world.all()) await instance.label({ id: ID, labels }, ctx);
        return {};
      },
    }),
  ],
  [
    'loses properties with a label',
    ['label keeps logical id and properties'],
    (instance, world) => ({
      ...instance,
      label: async (params, ctx) => {
        await instance.label(params, ctx);
        const thing = world.find(params.id);
        if (thing !== undefined) world.put({ ...thing, description: { ...thing.description, Properties: null } });
        return {};
      },
    }),
  ],
  [
    'destroys what is not there with success',
    ['destroy of an unknown id is refused'],
    (instance, world) => ({
      ...instance,
      destroy: async (params, ctx) => {
        if (!isAlive(world)(params.id) && !ctx.signal.aborted) return {};
        return instance.destroy(params, ctx);
      },
    }),
  ],
  [
    'labels what is not there with success',
    ['label of an unknown id is refused'],
    (instance, world) => ({
      ...instance,
      label: async (params, ctx) => (isAlive(world)(params.id) ? instance.label(params, ctx) : {}),
    }),
  ],
  [
    'does not say that an instance is unknown',
    ['label of an unknown id is refused', 'destroy of an unknown id is refused'],
    (instance) => ({
      ...instance,
      label: (params, ctx) => instance.label(params, ctx).catch((error) => refused('INSTANCE_NOT_FOUND', error)),
      destroy: (params, ctx) => instance.destroy(params, ctx).catch((error) => refused('INSTANCE_NOT_FOUND', error)),
    }),
  ],
  [
    'destroys by the first characters of an id',
    ['destroy removes the instance and no other'],
    (instance, world) => ({
      ...instance,
      destroy: async (params, ctx) => {
        await instance.destroy(params, ctx);
        const next = world.all().find(({ ID }) => ID.startsWith(params.id.slice(0, 4)));
        if (next !== undefined) world.remove(next.ID);
        return {};
      },
    }),
  ],
  [
    'takes any term',
    ['an older term is refused'],
    (instance) => ({
      ...instance,
      provision: (params, { fencing: _, ...ctx }) => instance.provision(params, ctx),
      destroy: (params, { fencing: _, ...ctx }) => instance.destroy(params, ctx),
    }),
  ],
  [
    'compares the terms of different elections',
    ['leaders of two elections work on one sink, whatever terms they have'],
    (instance) => ({
      ...instance,
      provision: (params, { fencing, ...ctx }) =>
        instance.provision(
          params,
          fencing === undefined ? ctx : { ...ctx, fencing: { scope: 'one', term: fencing.term } },
        ),
      destroy: (params, { fencing, ...ctx }) =>
        instance.destroy(
          params,
          fencing === undefined ? ctx : { ...ctx, fencing: { scope: 'one', term: fencing.term } },
        ),
    }),
  ],
];

describe('the instance contract: Label and Destroy', () => {
  test.each(broken)('an instance that %s fails', async (_, notice, wrap) => {
    const results = await runContract(
      { name: 'Change', cases: instanceChangeCases },
      () => memoryInstanceSubject({ wrap }),
      {
        after: realAfter,
        caseTimeoutMs: 2_000,
      },
    );
    expect(results.filter(({ kind }) => kind === 'failed').map(({ name }) => name)).toEqual(notice);
  });
});
