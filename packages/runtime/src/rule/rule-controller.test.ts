import { digest, ownershipOf, ownerTags, reservedTags, type Spec } from '@infrakit/core';
import {
  type ControllerSubject,
  controllerContract,
  controllerInterface,
  direct,
  type Instance,
  instanceInterface,
  memoryInstance,
  memoryJournal,
  memoryStorage,
  memoryWorld,
  type ObjectState,
  realAfter,
  testingContext,
} from '@infrakit/spi';
import { NEVER } from 'rxjs';
import { describe, expect, test, vi } from 'vitest';
import { contractTests } from '../../../../test/contract.ts';
import { planLines } from '../loop/plan-lines.ts';
import { systemClock } from '../work/clock.ts';
import { workerPool } from '../work/worker-pool.ts';
import { defaultRuleSettings, type Rule } from './rule.ts';
import { ruleController } from './rule-controller.ts';
import type { RuleKind } from './rule-kind.ts';

interface Item {
  readonly id: string;
}

const listOf = (spec: Spec): Item[] => {
  const { list } = spec.properties as { readonly list: readonly string[] };
  return list.map((id) => ({ id }));
};

type Description = ReturnType<ReturnType<typeof memoryWorld>['all']>[number];

/** A controller that keeps one entry of the sink for each name of a list. */
const listKind = (sink: Instance, onDestroy: 'leave' | 'empty' = 'empty'): RuleKind<Item, Description> => ({
  kind: 'list',
  accept: async (spec, revision, owner) => {
    const items = listOf(spec);
    const rule: Rule<Item, Description> = {
      name: `lists/${spec.metadata.name}`,
      owner,
      settings: {
        ...defaultRuleSettings,
        maxDestroyFloor: 1,
        callTimeoutMs: 2_000,
        maxCallTimeoutMs: 20_000,
        graceMs: 5_000,
      },
      revision,
      readSource: async () => ({ kind: 'known', items }),
      readSink: async (ctx) => {
        const listing = await sink.describe({ tags: {}, properties: false }, ctx);
        return listing.kind === 'instances' ? listing.instances : [];
      },
      keys: (source, observed) => ({
        source:
          source.kind === 'unknown'
            ? source
            : { ...source, entries: source.items.map(({ id }) => ({ id, key: { kind: 'known', value: id } })) },
        observed: observed.map(({ ID, Tags }) => {
          const sourceId = Tags?.[reservedTags.enrollmentSourceId] ?? '';
          return {
            id: ID,
            key: { kind: 'known', value: sourceId },
            sourceId,
            ownership: ownershipOf(Tags, {
              owner,
              rule: spec.metadata.name,
              keyKnown: true,
              adopted: false,
              allowUntaggedDestroy: false,
              storedSpecsBack: true,
            }),
          };
        }),
        itemOf: (id) => items.find((item) => item.id === id),
      }),
      contentOf: ({ id }) => id,
      create: async ({ id }, ctx) => {
        const Tags = ownerTags(owner, spec.metadata.name, id);
        const made = { Properties: {}, Tags, Init: '', LogicalID: null, Attachments: null };
        return (await sink.provision({ spec: made }, ctx)).id;
      },
      label: async (id, sourceId, ctx) => {
        await sink.label({ id, labels: ownerTags(owner, spec.metadata.name, sourceId) }, ctx);
      },
      destroy: async (id, Reason, ctx) => {
        await sink.destroy({ id, context: { Reason } }, ctx);
      },
    };
    const timing = { quietMs: 5, maxWaitMs: 20, syncIntervalMs: 40 };
    return { rule, timing, triggers: NEVER, sourceHash: digest(items), warnings: [], onDestroy };
  },
  planLines: (plan) => planLines(plan, null),
  stateOf: (outcome) => (outcome?.kind === 'completed' ? outcome.counts : null),
});

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

const start = (options: { readonly storage?: Map<string, string>; readonly onDestroy?: 'leave' | 'empty' } = {}) => {
  const world = memoryWorld();
  const states = new Map<string, ObjectState>();
  const plain = memoryInstance({ world }).instance;
  const run = (storage: Map<string, string>) =>
    ruleController(listKind(direct(instanceInterface, plain, { after: realAfter }), options.onDestroy), {
      name: 'lists',
      stackId: 'stack',
      journal: memoryJournal(storage, 'lists'),
      clock: systemClock,
      random: () => 0.5,
      pool: workerPool({ concurrency: 8 }),
      log: silent,
      newId: () => 'c',
      patienceMs: 500,
      state: {
        publish: (object, state) => {
          states.set(object, state);
        },
        clear: (object) => {
          states.delete(object);
        },
      },
      changed: () => {},
    });
  const storage = options.storage ?? memoryStorage();
  return { world, states, storage, run, ...run(storage) };
};

const spec = (name: string, list: readonly string[], tags?: Record<string, string>): Spec => ({
  kind: 'list',
  metadata: tags === undefined ? { name } : { name, tags },
  properties: { list },
});

const many = (count: number, prefix = 'h'): string[] => Array.from({ length: count }, (_, n) => `${prefix}${n}`);

const until = async (check: () => boolean): Promise<void> => {
  const endMs = Date.now() + 5_000;
  while (!check()) {
    if (Date.now() > endMs) throw new Error('it did not come about within 5 s');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

const ctx = testingContext();
const sourceIds = (world: ReturnType<typeof memoryWorld>): string[] =>
  world
    .all()
    .map(({ Tags }) => Tags?.[reservedTags.enrollmentSourceId] ?? '-')
    .sort();

contractTests(controllerContract, async (): Promise<ControllerSubject & AsyncDisposable> => {
  const { controller, book, world } = start();
  const own = (name: string) => world.all().filter(({ Tags }) => Tags?.[reservedTags.enrollmentName] === name);
  return {
    controller: direct(controllerInterface, controller, { after: realAfter }),
    spec: (name, n) => spec(name, many(4, `v${n}-`)),
    unknownName: 'RULE_NOT_FOUND',
    isEventuallyConsistent: true,
    world: {
      look: async () => sourceIds(world),
      cycle: () => new Promise((resolve) => setTimeout(resolve, 200)),
      disturb: async (name) => world.removeBehind(own(name)[0]?.ID ?? ''),
    },
    [Symbol.asyncDispose]: () => book.stop(),
  };
});

describe('the controller that all controllers are', () => {
  test('EI-C3: a refused commit leaves the old rule running; GP-M10: another kind is refused', async () => {
    const { controller, book, world, states } = start();
    await controller.commit({ spec: spec('a', ['x']), revision: 1 }, ctx);
    await until(() => states.get('a')?.counts.observed === 1);
    await expect(controller.commit({ spec: { ...spec('a', []), kind: 'group' }, revision: 2 }, ctx)).rejects.toThrow(
      'keeps specs of kind list',
    );
    await world.removeBehind(world.all()[0]?.ID ?? '');
    await until(() => world.all().length === 1);
    await book.stop();
  });

  test('Law 6: a commit that changes the list explains what leaves by it, all of it but the rest of the world', async () => {
    const { controller, book, world } = start();
    await controller.commit({ spec: spec('a', many(10)), revision: 1 }, ctx);
    await until(() => world.all().length === 10);
    const planned = await controller.plan({ operation: 'commit', spec: spec('a', ['h0']) }, ctx);
    expect(planned.plan.messages.filter((line) => line.includes('by the commit'))).toHaveLength(9);
    expect(world.all()).toHaveLength(10);
    await controller.commit({ spec: spec('a', ['h0']), revision: 2 }, ctx);
    await until(() => world.all().length === 1);
    expect(sourceIds(world)).toEqual(['h0']);
    await book.stop();
  });

  test('GP-M9: a freed rule stays freed when its spec is given back after a restart, and resumes by a new commit', async () => {
    const first = start();
    await first.controller.commit({ spec: spec('a', ['x']), revision: 3 }, ctx);
    await until(() => first.world.all().length === 1);
    await first.controller.free({ name: 'a' }, ctx);
    await first.book.stop();

    const second = first.run(first.storage);
    await second.controller.commit({ spec: spec('a', ['x']), revision: 3 }, ctx);
    await first.world.removeBehind(first.world.all()[0]?.ID ?? '');
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(first.world.all()).toEqual([]);
    await second.controller.commit({ spec: spec('a', ['x']), revision: 4 }, ctx);
    await until(() => first.world.all().length === 1);
    await second.book.stop();
  });

  test('DESIGN §5: a spec that was freed while its controller was away is taken as freed, with not one act before', async () => {
    const first = start();
    await first.controller.commit({ spec: spec('a', many(5)), revision: 1 }, ctx);
    await until(() => first.world.all().length === 5);
    await first.book.stop();
    for (const { ID } of first.world.all()) await first.world.removeBehind(ID);

    const second = first.run(first.storage);
    for (const revision of [1, 2]) {
      await second.controller.commit({ spec: spec('a', many(5)), revision, freed: true }, ctx);
      const { statuses } = await second.controller.status({ search: { name: 'a' } }, ctx);
      expect(statuses).toMatchObject([{ revision, phase: 'freed' }]);
      await new Promise((resolve) => setTimeout(resolve, 150));
      expect(first.world.all()).toEqual([]);
    }
    await second.book.stop();
    const third = first.run(first.storage);
    await third.controller.commit({ spec: spec('a', many(5)), revision: 2 }, ctx);
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(first.world.all()).toEqual([]);
    await third.controller.commit({ spec: spec('a', many(5)), revision: 3 }, ctx);
    await until(() => first.world.all().length === 5);
    await third.book.stop();
  });

  test('GP-G10: a destroy that a crash interrupts goes on after the restart, and then the name is gone', async () => {
    const first = start();
    await first.controller.commit({ spec: spec('a', many(5)), revision: 1 }, ctx);
    await until(() => first.world.all().length === 5);
    const unstall = first.world.stall();
    const destroying = first.controller.destroy({ name: 'a' }, ctx);
    await until(() => first.storage.get('lists/rule/a')?.includes('destroying') === true);
    await first.book.stop();
    unstall();
    void destroying.catch(() => {});
    const second = first.run(first.storage);
    await second.controller.commit({ spec: spec('a', many(5)), revision: 1 }, ctx);
    await until(() => second.book.names().length === 0);
    expect(first.world.all()).toEqual([]);
    expect([...first.storage.keys()]).toEqual([]);
  });

  test('Law 6: hold stops the acts, resume lets them go on; approve of nothing held is stale', async () => {
    const { controller, book, world, states } = start();
    await controller.commit({ spec: spec('a', many(3)), revision: 1 }, ctx);
    await until(() => world.all().length === 3);
    await controller.hold({ name: 'a', reason: 'maintenance' }, ctx);
    await world.removeBehind(world.all()[0]?.ID ?? '');
    await until(() => states.get('a')?.counts.observed === 2);
    expect(world.all()).toHaveLength(2);
    await controller.resume({ name: 'a' }, ctx);
    await until(() => world.all().length === 3);
    await expect(controller.approve({ name: 'a' }, ctx)).rejects.toMatchObject({ code: 'PLAN_STALE' });
    await book.stop();
  });

  test('a commit that was only just answered is not converged, whatever the rule had come to before', async () => {
    const { controller, book, world } = start();
    const status = async () => (await controller.status({ search: { name: 'a' } }, ctx)).statuses;
    await controller.commit({ spec: spec('a', ['x']), revision: 1 }, ctx);
    await until(() => world.all().length === 1);
    await vi.waitFor(async () => expect((await status())[0]?.progress).toEqual({ kind: 'converged' }));
    const unstall = world.stall();
    await controller.commit({ spec: spec('a', ['x', 'y']), revision: 2 }, ctx);
    const working = { kind: 'working', reason: 'not looked at yet' };
    expect(await status()).toEqual([{ name: 'a', revision: 2, phase: 'active', progress: working }]);
    unstall();
    await vi.waitFor(async () => expect((await status())[0]?.progress).toEqual({ kind: 'converged' }));
    expect(sourceIds(world)).toEqual(['x', 'y']);
    await controller.free({ name: 'a' }, ctx);
    expect(await status()).toEqual([{ name: 'a', revision: 2, phase: 'freed', progress: { kind: 'converged' } }]);
    await controller.destroy({ name: 'a' }, ctx);
    expect(await status()).toEqual([]);
    await book.stop();
  });

  test('EI-C9: describe finds by name and by all tags; the lookup may stand before the name (EI-C7)', async () => {
    const { controller, book } = start();
    await controller.commit({ spec: spec('a', [], { tier: 'web', zone: '1' }), revision: 1 }, ctx);
    await controller.commit({ spec: spec('lists/b', [], { tier: 'db' }), revision: 2 }, ctx);
    const names = async (search: { name?: string; tags?: Record<string, string> }) =>
      (await controller.describe({ search }, ctx)).objects.map(({ metadata }) => metadata.name);
    expect(await names({})).toEqual(['a', 'b']);
    expect(await names({ name: 'lists/b' })).toEqual(['b']);
    expect(await names({ tags: { tier: 'web' } })).toEqual(['a']);
    expect(await names({ tags: { tier: 'web', zone: '2' } })).toEqual([]);
    await book.stop();
  });

  test('E-4: a rule whose destroy leaves everything behind forgets the name at once', async () => {
    const { controller, book, world } = start({ onDestroy: 'leave' });
    await controller.commit({ spec: spec('a', ['x']), revision: 1 }, ctx);
    await until(() => world.all().length === 1);
    await controller.destroy({ name: 'a' }, ctx);
    expect(book.names()).toEqual([]);
    expect(world.all()).toHaveLength(1);
  });
});
