import { describe, expect, test } from 'vitest';
import type { MetadataSource } from '../metadata.ts';
import { type MemoryMetadataWorld, memoryMetadata, memoryMetadataWorld } from '../reference/memory-metadata.ts';
import { type MetadataSubject, metadataContract } from './metadata-contract.ts';
import { runContract } from './run-contract.ts';
import { realAfter } from './testing-context.ts';

type Wrap = (metadata: MetadataSource, world: MemoryMetadataWorld) => MetadataSource;

const document = {
  cluster: { name: 'blue', size: 3, nothing: null, off: false, zero: 0, empty: '', hosts: ['h2', 'h1'], none: [] },
  zone: { b: 1, a: 2 },
};

const subject =
  (wrap: Wrap = (metadata) => metadata) =>
  async (): Promise<MetadataSubject & AsyncDisposable> => {
    const { metadata, world } = memoryMetadata(memoryMetadataWorld(document));
    return {
      metadata: wrap(metadata, world),
      known: [
        { path: 'cluster/name', value: 'blue', keys: [] },
        { path: '.', value: document, keys: ['zone', 'cluster'] },
        { path: 'zone', value: { b: 1, a: 2 }, keys: ['b', 'a'] },
        { path: 'cluster/hosts', value: ['h2', 'h1'], keys: ['[1]', '[0]'] },
        { path: 'cluster/hosts[1]', value: 'h1', keys: [] },
        { path: 'cluster/nothing', value: null, keys: [] },
        { path: 'cluster/off', value: false, keys: [] },
        { path: 'cluster/zero', value: 0, keys: [] },
        { path: 'cluster/empty', value: '', keys: [] },
        { path: 'cluster/none', value: [], keys: [] },
      ],
      isEventuallyConsistent: false,
      world: {
        change: async () => {
          world.set({ ...document, cluster: { ...document.cluster, name: 'green' } });
          return 'green';
        },
        stall: async () => {
          const goOn = world.stall();
          return async () => goOn();
        },
      },
      [Symbol.asyncDispose]: async () => undefined,
    };
  };

const run = async (wrap?: Wrap) => {
  const results = await runContract(metadataContract, subject(wrap), { after: realAfter, caseTimeoutMs: 2_000 });
  expect(results.filter(({ kind }) => kind === 'skipped')).toEqual([]);
  return results.filter(({ kind }) => kind === 'failed').map(({ name }) => name);
};

type Nodes = string[] | null;
type Got = Awaited<ReturnType<MetadataSource['get']>>;

const lists = (metadata: MetadataSource, change: (nodes: Nodes, path: string) => Nodes): MetadataSource => ({
  ...metadata,
  keys: async (params, ctx) => ({ nodes: change((await metadata.keys(params, ctx)).nodes, params.path) }),
});

const gets = (metadata: MetadataSource, change: (got: Got, path: string) => Got): MetadataSource => ({
  ...metadata,
  get: async (params, ctx) => change(await metadata.get(params, ctx), params.path),
});

/** One broken thing each, and all cases that notice. */
const broken: readonly (readonly [what: string, notice: readonly string[], wrap: Wrap])[] = [
  [
    'lists keys in no order',
    ['keys gives the children of a path, sorted', 'everything listed is there'],
    (metadata) => lists(metadata, (nodes) => nodes?.toReversed() ?? null),
  ],
  [
    'drops a key',
    ['keys gives the children of a path, sorted'],
    (metadata) => lists(metadata, (nodes) => nodes?.slice(0, 1) ?? null),
  ],
  [
    'lists a key that is not there',
    ['keys gives the children of a path, sorted', 'everything listed is there'],
    (metadata) => lists(metadata, (nodes, path) => (path === 'zone' ? [...(nodes ?? []), 'c'] : nodes)),
  ],
  [
    'says null for the keys of a scalar',
    ['keys gives the children of a path, sorted', 'everything listed is there'],
    (metadata) => lists(metadata, (nodes) => (nodes?.length === 0 ? null : nodes)),
  ],
  [
    'says no keys for what is not there',
    ['what is not there is not found'],
    (metadata) => lists(metadata, (nodes) => nodes ?? []),
  ],
  [
    'finds everything',
    ['what is not there is not found', 'part of a name is no path'],
    (metadata) => gets(metadata, ({ value }) => ({ found: true, value: value ?? null })),
  ],
  [
    'takes an empty value for a missing one',
    ['get gives the value at a path', 'everything listed is there'],
    (metadata) => gets(metadata, (got) => ({ ...got, found: Boolean(got.value) })),
  ],
  [
    'gives values as text',
    ['get gives the value at a path'],
    (metadata) => gets(metadata, (got) => (typeof got.value === 'number' ? { ...got, value: String(got.value) } : got)),
  ],
  [
    'finds the value above',
    ['what is not there is not found', 'part of a name is no path'],
    (metadata) => ({
      ...metadata,
      get: async ({ path }, ctx) => {
        const got = await metadata.get({ path }, ctx);
        return got.found ? got : metadata.get({ path: path.split('/').slice(0, -1).join('/') }, ctx);
      },
    }),
  ],
  [
    'remembers the first value',
    ['a value follows the world'],
    (metadata) => gets(metadata, (got, path) => (path === 'cluster/name' ? { ...got, value: 'blue' } : got)),
  ],
  [
    'hands out its own tree',
    ['what a caller does to a result changes nothing for others'],
    (metadata) => {
      let kept: unknown;
      return gets(metadata, (got, path) => {
        if (path !== '.') return got;
        kept ??= structuredClone(got.value);
        return { found: true, value: kept };
      });
    },
  ],
  [
    'looks at no signal',
    ['a call whose caller has given up is refused', 'a call ends when its caller gives up, though the world hangs'],
    (metadata) => ({
      ...metadata,
      get: (params, ctx) => metadata.get(params, { ...ctx, signal: new AbortController().signal }),
    }),
  ],
];

describe('the metadata contract', () => {
  test('the memory tree passes every case', async () => {
    expect(await run()).toEqual([]);
  });

  test.each(broken)('a metadata source that %s fails', async (_, notice, wrap) => {
    expect(await run(wrap)).toEqual(notice);
  });
});
