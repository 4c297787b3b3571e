import { describe, expect, test } from 'vitest';
import type { Instance } from '../instance.ts';
import { memoryInstanceSubject } from '../reference/memory-instance-subject.ts';
import type { MemoryWorld } from '../reference/memory-world.ts';
import { instanceProvisionCases } from './instance-provision-cases.ts';
import { runContract } from './run-contract.ts';
import { realAfter } from './testing-context.ts';

const keyless = (instance: Instance): Instance => ({
  ...instance,
  provision: (params, { idempotencyKey: _, ...ctx }) => instance.provision(params, ctx),
});

type Made = Promise<{ id: string }>;

/** Provision that answers from a memory of its own, as long as `isValid` lets it. */
const rememberingKeys = (instance: Instance, made: Map<string, Made>, isValid: (id: string) => boolean): Instance => ({
  ...instance,
  provision: async (params, ctx) => {
    const key = ctx.idempotencyKey;
    if (key === undefined) return instance.provision(params, ctx);
    const before = made.get(key);
    if (before !== undefined && isValid((await before).id)) return before;
    const answer = keyless(instance).provision(params, ctx);
    made.set(key, answer);
    return answer;
  },
});

/** What an implementation that keeps its keys over a restart would have on disk. */
const keysOfWorlds = new WeakMap<MemoryWorld, Map<string, Made>>();

/** One broken thing each, and all cases that notice. */
const broken: readonly (readonly [
  what: string,
  notice: readonly string[],
  wrap: (instance: Instance, world: MemoryWorld) => Instance,
])[] = [
  [
    'is not idempotent by key',
    [
      'the same key gives the living instance',
      'calls at once with one key make one instance',
      'a key outlives a restart',
    ],
    keyless,
  ],
  [
    'takes all keys for one',
    ['other keys make other instances'],
    (instance) => ({
      ...instance,
      provision: (params, { idempotencyKey, ...ctx }) =>
        instance.provision(params, idempotencyKey === undefined ? ctx : { ...ctx, idempotencyKey: 'any' }),
    }),
  ],
  [
    'remembers a key only once the instance is made',
    ['calls at once with one key make one instance'],
    (instance, world) => ({
      ...instance,
      provision: async (params, ctx) => {
        const key = ctx.idempotencyKey;
        const living = world.findByKey(key ?? '');
        if (living !== undefined) return { id: living.description.ID };
        const answer = await keyless(instance).provision(params, ctx);
        const thing = world.find(answer.id);
        if (thing !== undefined) world.put({ ...thing, key });
        return answer;
      },
    }),
  ],
  [
    'forgets the key after a restart',
    ['a key outlives a restart'],
    (instance, world) => rememberingKeys(instance, new Map(), (id) => world.find(id) !== undefined),
  ],
  [
    'gives the dead instance for a key',
    ['a key whose instance was destroyed makes a new one', 'a key whose instance vanished makes a new one'],
    (instance, world) => {
      const keys = keysOfWorlds.get(world) ?? new Map();
      keysOfWorlds.set(world, keys);
      return rememberingKeys(instance, keys, () => true);
    },
  ],
  [
    'makes something to validate it',
    ['validate has no effect'],
    (instance, world) => ({
      ...instance,
      validate: async (params, ctx) => {
        await instance.validate(params, ctx);
        await world.addForeign({}, params.properties);
        return {};
      },
    }),
  ],
  [
    'validates nothing',
    ['validate refuses invalid properties'],
    (instance) => ({ ...instance, validate: async () => ({}) }),
  ],
  [
    'loses the properties',
    ['provision keeps the properties'],
    (instance) => ({
      ...instance,
      provision: ({ spec }, ctx) => {
        const Properties = typeof spec.Properties === 'object' ? {} : spec.Properties;
        return instance.provision({ spec: { ...spec, Properties } }, ctx);
      },
    }),
  ],
  [
    'loses the logical id',
    ['provision keeps the logical id'],
    (instance) => ({
      ...instance,
      provision: ({ spec }, ctx) => instance.provision({ spec: { ...spec, LogicalID: null } }, ctx),
    }),
  ],
  [
    'loses empty tags',
    ['a provisioned instance is described with its id and tags'],
    (instance) => ({
      ...instance,
      provision: ({ spec }, ctx) => {
        const Tags = Object.fromEntries(Object.entries(spec.Tags).filter(([, value]) => value !== ''));
        return instance.provision({ spec: { ...spec, Tags } }, ctx);
      },
    }),
  ],
  [
    'loses everything at a restart',
    ['a key outlives a restart', 'instances outlive a restart'],
    (instance, world) => {
      for (const { ID } of world.all()) world.remove(ID);
      return instance;
    },
  ],
];

describe('the instance contract: Validate and Provision', () => {
  test.each(broken)('an instance that %s fails', async (_, notice, wrap) => {
    const results = await runContract(
      { name: 'Provision', cases: instanceProvisionCases },
      () => memoryInstanceSubject({ wrap }),
      {
        after: realAfter,
        caseTimeoutMs: 2_000,
      },
    );
    expect(results.filter(({ kind }) => kind === 'failed').map(({ name }) => name)).toEqual(notice);
  });
});
