import { AppError, type InstanceDescription } from '@infrakit/core';
import { describe, expect, test } from 'vitest';
import type { Instance, InstanceListing } from '../instance.ts';
import { memoryInstanceSubject } from '../reference/memory-instance-subject.ts';
import type { MemoryWorld } from '../reference/memory-world.ts';
import { instanceDescribeCases } from './instance-describe-cases.ts';
import { runContract } from './run-contract.ts';
import { realAfter } from './testing-context.ts';

/** The describe of an instance with its lists changed, under the digest of the full list. */
const listsThrough = (
  instance: Instance,
  change: (instances: readonly InstanceDescription[]) => readonly InstanceDescription[],
): Instance => ({
  ...instance,
  describe: async (params, ctx) => {
    const listing = await instance.describe(params, ctx);
    return listing.kind === 'unchanged' ? listing : { ...listing, instances: [...change(listing.instances)] };
  },
});

/** The describe of an instance under digests of somebody else's making. */
const digestedBy = (instance: Instance, digestOf: (listing: InstanceListing, tags: object) => string): Instance => ({
  ...instance,
  describe: async ({ digest: known, ...all }, ctx) => {
    const listing = await instance.describe(all, ctx);
    const digest = digestOf(listing, all.tags);
    return digest === known ? { kind: 'unchanged', digest } : { ...listing, digest };
  },
});

/** One broken thing each, and all cases that notice. */
const broken: readonly (readonly [
  what: string,
  notice: readonly string[],
  wrap: (instance: Instance, world: MemoryWorld) => Instance,
])[] = [
  [
    'drops a page',
    ['a long list is complete and repeats nothing'],
    (instance) => listsThrough(instance, (all) => all.slice(0, 100)),
  ],
  [
    'repeats an entry at each page',
    ['a long list is complete and repeats nothing'],
    (instance) => listsThrough(instance, (all) => [...all.slice(0, 100), ...all.slice(99)]),
  ],
  [
    'answers short where it cannot read all',
    ['a list that cannot be complete is an error'],
    (instance) => ({
      ...instance,
      describe: (params, ctx) =>
        instance.describe(params, ctx).catch((error: unknown): InstanceListing => {
          if (error instanceof AppError && error.code === 'INSTANCE_FAILED')
            return { kind: 'instances', digest: 'short', instances: [] };
          throw error;
        }),
    }),
  ],
  [
    'matches a missing tag',
    ['describe wants every tag, present and equal', 'a digest belongs to its query'],
    (instance) => ({
      ...instance,
      describe: async ({ tags, ...rest }, ctx) => {
        const listing = await instance.describe({ ...rest, tags: {} }, ctx);
        if (listing.kind === 'unchanged') return listing;
        const instances = listing.instances.filter(({ Tags }) =>
          Object.entries(tags).every(([key, value]) => (Tags?.[key] ?? value) === value),
        );
        return { ...listing, instances };
      },
    }),
  ],
  [
    'matches on the names of tags only',
    ['describe wants every tag, present and equal', 'a digest belongs to its query'],
    (instance) => ({
      ...instance,
      describe: async ({ tags, ...rest }, ctx) => {
        const marked = Object.fromEntries(Object.entries(tags).filter(([key]) => key.startsWith('infrakit.')));
        const listing = await instance.describe({ ...rest, tags: marked }, ctx);
        if (listing.kind === 'unchanged') return listing;
        const instances = listing.instances.filter(({ Tags }) =>
          Object.keys(tags).every((key) => Object.hasOwn(Tags ?? {}, key)),
        );
        return { ...listing, instances };
      },
    }),
  ],
  [
    'leaves out what has no tags',
    ['describe without tags gives everything'],
    (instance) => listsThrough(instance, (all) => all.filter(({ Tags }) => Object.keys(Tags ?? {}).length > 0)),
  ],
  [
    'digests its own writes and not the world',
    [
      'the digest changes when a thing appeared behind the plugin',
      'the digest changes when a thing changed behind the plugin',
      'the digest changes when a thing vanished behind the plugin',
    ],
    (instance, world) => digestedBy(instance, (_, tags) => JSON.stringify([tags, world.writes()])),
  ],
  [
    'keeps the digest after a write',
    [
      'the digest changes with each write',
      'the digest changes when a thing appeared behind the plugin',
      'the digest changes when a thing changed behind the plugin',
      'the digest changes when a thing vanished behind the plugin',
    ],
    (instance) => digestedBy(instance, (_, tags) => JSON.stringify(tags)),
  ],
  [
    'digests ids and not their tags',
    ['the digest changes with each write', 'the digest changes when a thing changed behind the plugin'],
    (instance) =>
      digestedBy(instance, (listing, tags) =>
        JSON.stringify([tags, listing.kind === 'instances' && listing.instances.map(({ ID }) => ID)]),
      ),
  ],
  [
    'gives one digest to every query',
    ['a digest belongs to its query'],
    (instance, world) => digestedBy(instance, () => `v${world.version()}`),
  ],
  [
    'gives a new digest each time',
    ['the newest digest is answered with "unchanged"'],
    (instance) => {
      let count = 0;
      return digestedBy(instance, () => {
        count += 1;
        return `d${count}`;
      });
    },
  ],
  [
    'answers "unchanged" to any digest',
    [
      'an unknown digest is answered with the list',
      'a digest belongs to its query',
      'the digest changes with each write',
      'the digest changes when a thing appeared behind the plugin',
      'the digest changes when a thing changed behind the plugin',
      'the digest changes when a thing vanished behind the plugin',
    ],
    (instance) => ({
      ...instance,
      describe: async (params, ctx) =>
        params.digest === undefined ? instance.describe(params, ctx) : { kind: 'unchanged', digest: params.digest },
    }),
  ],
  [
    'hands out its own mutable list',
    ['what a caller does to a result changes nothing for others'],
    (instance) => {
      const kept = new Map<string, InstanceListing>();
      return {
        ...instance,
        describe: async (params, ctx) => {
          const listing = await instance.describe(params, ctx);
          const key = `${listing.digest}${listing.kind}`;
          if (!kept.has(key)) kept.set(key, structuredClone(listing));
          return kept.get(key) ?? listing;
        },
      };
    },
  ],
];

describe('the instance contract: Describe', () => {
  test.each(broken)('an instance that %s fails', async (_, notice, wrap) => {
    const results = await runContract(
      { name: 'Describe', cases: instanceDescribeCases },
      () => memoryInstanceSubject({ wrap }),
      {
        after: realAfter,
        caseTimeoutMs: 2_000,
      },
    );
    expect(results.filter(({ kind }) => kind === 'failed').map(({ name }) => name)).toEqual(notice);
  });
});
