import type { InstanceDescription, Tags } from '@infrakit/core';
import type { InstanceListing } from '../instance.ts';
import { type ContractCase, type ContractContext, demand, demandEqual, skipUnless } from './contract-case.ts';
import {
  describeAll,
  type InstanceScene,
  type InstanceSubject,
  type InstanceSubjectWorld,
  withScene,
} from './instance-subject.ts';

type Listed = InstanceListing & { readonly kind: 'instances' };

const listing = async (
  { instance }: InstanceSubject,
  ctx: ContractContext,
  tags: Tags,
  digest?: string,
): Promise<InstanceListing> =>
  instance.describe({ tags: { ...tags }, properties: false, ...(digest === undefined ? {} : { digest }) }, ctx);

/** The listing of the scene once it shows `ids`. */
const listed = async (
  subject: InstanceSubject,
  ctx: ContractContext,
  scene: InstanceScene,
  ids: readonly string[],
): Promise<Listed> => {
  let last: Listed | undefined;
  await scene.settle(async () => {
    const answer = await listing(subject, ctx, scene.tag);
    demand(answer.kind === 'instances', 'describe must answer the whole list to a caller that sends no digest');
    demandEqual(answer.instances.map(({ ID }) => ID).toSorted(), ids.toSorted(), 'the ids that describe shows');
    last = answer;
  });
  demand(last !== undefined, 'describe must show what was provisioned');
  return last;
};

/** Demands that a caller with `before` gets the list anew, under another digest. */
const demandChanged = async (
  subject: InstanceSubject,
  ctx: ContractContext,
  scene: InstanceScene,
  before: Listed,
  what: string,
): Promise<Listed> => {
  let last = before;
  await scene.settle(async () => {
    const answer = await listing(subject, ctx, scene.tag, before.digest);
    demand(answer.kind === 'instances', `describe must not answer "unchanged" after ${what}`);
    demand(answer.digest !== before.digest, `the digest of a describe must change after ${what}`);
    last = answer;
  });
  return last;
};

const tamper = (descriptions: readonly InstanceDescription[]): void => {
  for (const description of descriptions) {
    for (const change of [
      () => Object.assign(description, { LogicalID: 'tampered' }),
      () => Object.assign(description.Tags ?? {}, { tampered: 'yes' }),
    ]) {
      try {
        change();
      } catch {
        // A frozen result refuses; that is as good as a copy.
      }
    }
  }
};

const changesBehind: readonly (readonly [
  ability: keyof InstanceSubjectWorld,
  what: string,
  change: (world: InstanceSubjectWorld, id: string, tag: Tags) => Promise<unknown> | undefined,
])[] = [
  ['addForeign', 'a thing appeared', (world, _id, tag) => world.addForeign?.(tag)],
  ['changeBehind', 'a thing changed', (world, id) => world.changeBehind?.(id)],
  ['removeBehind', 'a thing vanished', (world, id) => world.removeBehind?.(id)],
];

/** Demands on Describe: what matches, completeness, digests (GP §2.2, GP-S3, DESIGN §3). */
export const instanceDescribeCases: readonly ContractCase<InstanceSubject>[] = [
  {
    name: 'describe wants every tag, present and equal',
    cites: 'GP-S3',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ provision, ids, settle }) => {
        const both = await provision({ tags: { a: '1', b: '1' } });
        const first = await provision({ tags: { a: '1' } });
        const other = await provision({ tags: { a: '2', b: '1' } });
        const none = await provision();
        await settle(async () => {
          demandEqual(await ids(), [both, first, other, none].toSorted(), 'the ids with the tag of all four');
          demandEqual(await ids({ a: '1' }), [both, first].toSorted(), 'the ids with a=1 (a missing tag is no match)');
          demandEqual(await ids({ a: '1', b: '1' }), [both], 'the ids with a=1 and b=1');
          demandEqual(await ids({ a: '3' }), [], 'the ids with a=3, which nothing has');
          demandEqual(await ids({ a: '' }), [], 'the ids with an empty a, which nothing has');
          demandEqual(await ids({ c: '1' }), [], 'the ids with c=1, which nothing has');
        });
      }),
  },
  {
    name: 'describe without tags gives everything',
    cites: 'EI §0.4',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ provision, settle }) => {
        const own = await provision();
        const untagged = await subject.world?.addForeign?.({});
        try {
          await settle(async () => {
            const all = (await describeAll(subject.instance, ctx, {})).map(({ ID }) => ID);
            for (const id of [own, ...(untagged === undefined ? [] : [untagged])]) {
              demand(all.includes(id), `describe without tags must show ${id}`);
            }
          });
        } finally {
          if (untagged !== undefined) await subject.world?.removeBehind?.(untagged);
        }
      }),
  },
  {
    name: 'a long list is complete and repeats nothing',
    cites: 'DESIGN §3',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ provision, ids, settle }) => {
        const made: string[] = [];
        for (let n = 1; n <= subject.longList; n += 1) made.push(await provision({ n }));
        await settle(async () => {
          const shown = await ids();
          const missing = made.filter((id) => !shown.includes(id));
          demand(missing.length === 0, `a list of ${made.length} must be complete; ${missing.length} are missing`);
          demandEqual(shown.length, made.length, 'the length of a list without repetitions');
        });
      }),
  },
  {
    name: 'a list that cannot be complete is an error',
    cites: 'Law 1',
    run: (subject, ctx) =>
      withScene(subject, ctx, async (scene) => {
        skipUnless(subject.world?.tear, 'the subject cannot make part of its world unreadable');
        const ids = [await scene.provision(), await scene.provision()];
        await listed(subject, ctx, scene, ids);
        const mend = await subject.world.tear();
        try {
          const outcome = await scene.ids().then(
            (shown) => shown,
            () => undefined,
          );
          demand(
            outcome === undefined || outcome.length === ids.length,
            'describe must reject when part of the world cannot be read, never answer a shorter list',
          );
        } finally {
          await mend();
        }
      }),
  },
  {
    name: 'with and without properties the same instances are shown',
    cites: 'GP §2.2',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ provision, list, settle }) => {
        const ids = [await provision({ n: 1 }), await provision({ n: 2 })].toSorted();
        await settle(async () => {
          for (const hasProperties of [false, true]) {
            const shown = (await list({}, hasProperties)).map(({ ID }) => ID);
            demandEqual(shown, ids, `the ids of a describe with properties ${hasProperties}`);
          }
        });
      }),
  },
  {
    name: 'what a caller does to a result changes nothing for others',
    cites: 'EI-P5',
    run: (subject, ctx) =>
      withScene(subject, ctx, async (scene) => {
        const before = await listed(subject, ctx, scene, [await scene.provision({ tags: { a: '1' } })]);
        const copy = structuredClone(before.instances);
        tamper(before.instances);
        demandEqual(await scene.list(), copy, 'a describe after a caller changed the result of another one');
      }),
  },
  {
    name: 'the newest digest is answered with "unchanged"',
    cites: 'DESIGN §3',
    run: (subject, ctx) =>
      withScene(subject, ctx, async (scene) => {
        const ids = [await scene.provision(), await scene.provision()];
        const { digest } = await listed(subject, ctx, scene, ids);
        const again = await listing(subject, ctx, scene.tag, digest);
        demandEqual(again, { kind: 'unchanged', digest }, 'the answer to the newest digest while nothing changes');
      }),
  },
  {
    name: 'an unknown digest is answered with the list',
    cites: 'DESIGN §3',
    run: (subject, ctx) =>
      withScene(subject, ctx, async (scene) => {
        const { instances } = await listed(subject, ctx, scene, [await scene.provision()]);
        const again = await listing(subject, ctx, scene.tag, 'no such digest');
        demand(again.kind === 'instances', 'describe must answer the whole list to a digest that it did not give');
        demandEqual(again.instances, instances, 'the list that an unknown digest gets');
      }),
  },
  {
    name: 'a digest belongs to its query',
    cites: 'DESIGN §3',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ tag, provision, ids, settle }) => {
        const [one, two] = [await provision({ tags: { a: '1' } }), await provision({ tags: { a: '2' } })];
        await settle(async () => demandEqual(await ids(), [one, two].toSorted(), 'the ids that describe shows'));
        const { digest } = await listing(subject, ctx, { ...tag, a: '1' });
        const other = await listing(subject, ctx, { ...tag, a: '2' }, digest);
        demand(other.kind === 'instances', 'the digest of a=1 must not be taken for that of a=2');
        demandEqual(
          other.instances.map(({ ID }) => ID),
          [two],
          'the ids with a=2, asked for with the digest of a=1',
        );
      }),
  },
  {
    name: 'the digest changes with each write',
    cites: 'DESIGN §3',
    run: (subject, ctx) =>
      withScene(subject, ctx, async (scene) => {
        const first = await scene.provision();
        const one = await listed(subject, ctx, scene, [first]);
        const second = await scene.provision();
        let last = await demandChanged(subject, ctx, scene, one, 'a provision');
        if (!subject.isRelabelRefused) {
          await subject.instance.label({ id: second, labels: { late: '1' } }, ctx);
          last = await demandChanged(subject, ctx, scene, last, 'a label');
        }
        await subject.instance.destroy({ id: second, context: { Reason: 'terminate' } }, ctx);
        await demandChanged(subject, ctx, scene, last, 'a destroy');
        await listed(subject, ctx, scene, [first]);
      }),
  },
  ...changesBehind.map(
    ([ability, what, change]): ContractCase<InstanceSubject> => ({
      name: `the digest changes when ${what} behind the plugin`,
      cites: 'DESIGN §3',
      run: (subject, ctx) =>
        withScene(subject, ctx, async (scene) => {
          const { world } = subject;
          skipUnless(world?.[ability], `the subject cannot do that (world.${ability})`);
          const ids = [await scene.provision(), await scene.provision()];
          const before = await listed(subject, ctx, scene, ids);
          await change(world, ids[0] ?? '', scene.tag);
          await demandChanged(subject, ctx, scene, before, `${what} behind the plugin`);
        }),
    }),
  ),
];
