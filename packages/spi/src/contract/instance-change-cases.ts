import { type ContractCase, demandEqual, demandRejects, skipUnless } from './contract-case.ts';
import { hangCase } from './deadline-cases.ts';
import { type InstanceSubject, withScene } from './instance-subject.ts';

const terminate = { Reason: 'terminate' };

/** Demands on Label and Destroy, and on calls whose caller is gone (GP §2.2, Laws 10 and 12). */
export const instanceChangeCases: readonly ContractCase<InstanceSubject>[] = [
  {
    name: 'label adds and overwrites, and removes nothing',
    cites: 'GP §2.2',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ provision, list, settle }) => {
        skipUnless(!subject.isRelabelRefused, 'the plugin cannot relabel');
        const id = await provision({ tags: { kept: '1', changed: 'old' } });
        await subject.instance.label({ id, labels: { changed: 'new', added: '2' } }, ctx);
        await settle(async () => {
          const tags = (await list())[0]?.Tags;
          demandEqual(tags?.kept, '1', 'a tag that label was not told of');
          demandEqual(tags?.changed, 'new', 'a tag that label was told to change');
          demandEqual(tags?.added, '2', 'a tag that label was told to add');
        });
      }),
  },
  {
    name: 'label keeps logical id and properties',
    cites: 'GP §2.2',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ provision, list, settle }) => {
        skipUnless(!subject.isRelabelRefused, 'the plugin cannot relabel');
        const id = await provision({ logicalId: '10.0.0.8' });
        const content = async () =>
          (await list({}, true)).map(({ ID, LogicalID, Properties }) => ({ ID, LogicalID, Properties }));
        let before: unknown = [];
        await settle(async () => {
          before = await content();
          demandEqual((await content()).length, 1, 'the number of instances after one provision');
        });
        await subject.instance.label({ id, labels: { added: '2' } }, ctx);
        await settle(async () => demandEqual(await content(), before, 'what a relabelled instance is beside its tags'));
      }),
  },
  {
    name: 'label touches no other instance',
    cites: 'GP §2.2',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ provision, ids, settle }) => {
        skipUnless(!subject.isRelabelRefused, 'the plugin cannot relabel');
        const [id, other] = [await provision(), await provision()];
        await subject.instance.label({ id, labels: { only: 'one' } }, ctx);
        await settle(async () =>
          demandEqual(await ids({ only: 'one' }), [id], `the ids with a tag that only ${id} got`),
        );
        await settle(async () => demandEqual(await ids(), [id, other].toSorted(), 'the ids after a label'));
      }),
  },
  {
    name: 'label twice is label once',
    cites: 'DESIGN §3',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ provision, ids, settle }) => {
        skipUnless(!subject.isRelabelRefused, 'the plugin cannot relabel');
        const id = await provision();
        await subject.instance.label({ id, labels: { again: '1' } }, ctx);
        await subject.instance.label({ id, labels: { again: '1' } }, ctx);
        await settle(async () => demandEqual(await ids({ again: '1' }), [id], 'the ids after the same label twice'));
      }),
  },
  {
    name: 'a refused label changes nothing',
    cites: 'DESIGN §4',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ provision, ids }) => {
        skipUnless(subject.isRelabelRefused, 'the plugin can relabel');
        const id = await provision();
        await demandRejects(
          subject.instance.label({ id, labels: { added: '1' } }, ctx),
          ['LABEL_REFUSED'],
          'a label of what cannot be relabelled',
        );
        demandEqual(await ids({ added: '1' }), [], 'the ids with a refused label');
      }),
  },
  {
    name: 'label of an unknown id is refused',
    cites: 'GP §2.2',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ provision }) => {
        const id = await provision();
        await subject.instance.destroy({ id, context: terminate }, ctx);
        await demandRejects(
          subject.instance.label({ id, labels: { a: 'b' } }, ctx),
          subject.isRelabelRefused ? ['LABEL_REFUSED', 'INSTANCE_NOT_FOUND'] : ['INSTANCE_NOT_FOUND'],
          'a label of a destroyed instance',
        );
      }),
  },
  {
    name: 'destroy removes the instance and no other',
    cites: 'GP §2.2',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ provision, ids, settle }) => {
        const [first, second, third] = [await provision(), await provision(), await provision()];
        await subject.instance.destroy({ id: second, context: terminate }, ctx);
        await settle(async () =>
          demandEqual(await ids(), [first, third].toSorted(), 'the ids after one destroy of three'),
        );
      }),
  },
  {
    name: 'destroy of an unknown id is refused',
    cites: 'GP §2.2',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ provision, newKey }) => {
        const id = await provision();
        await subject.instance.destroy({ id, context: terminate }, ctx);
        for (const [unknown, what] of [
          [id, 'a second destroy of an instance'],
          [`never-there-${newKey()}`, 'a destroy of an id that never was'],
        ] as const) {
          await demandRejects(
            subject.instance.destroy({ id: unknown, context: terminate }, ctx),
            ['INSTANCE_NOT_FOUND'],
            what,
          );
        }
      }),
  },
  {
    name: 'a call whose caller has given up has no effect',
    cites: 'Law 10',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ provision, ids, settle }) => {
        const id = await provision();
        const gone = { ...ctx, signal: AbortSignal.abort() };
        const { instance } = subject;
        const codes = ['RPC_CANCELLED', 'RPC_TIMEOUT'] as const;
        await demandRejects(provision({ ctx: gone }), codes, 'a provision whose signal was aborted before');
        await demandRejects(
          instance.destroy({ id, context: terminate }, gone),
          codes,
          'a destroy whose signal was aborted before',
        );
        await settle(async () => demandEqual(await ids(), [id], 'the ids after calls that were given up before'));
      }),
  },
  hangCase(({ instance }, ctx) => instance.describe({ tags: {}, properties: false }, ctx)),
  {
    name: 'an older term is refused',
    cites: 'Law 12',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ provision, ids, settle }) => {
        skipUnless(subject.takesTerms, 'the plugin takes no terms');
        const id = await provision({ ctx: { fencing: { scope: 'leader', term: 7 } } });
        await demandRejects(
          provision({ ctx: { fencing: { scope: 'leader', term: 6 } } }),
          ['TERM_STALE'],
          'a provision of term 6 after one of term 7',
        );
        await demandRejects(
          subject.instance.destroy({ id, context: terminate }, { ...ctx, fencing: { scope: 'leader', term: 6 } }),
          ['TERM_STALE'],
          'a destroy of term 6 after a provision of term 7',
        );
        await settle(async () => demandEqual(await ids(), [id], 'the ids after calls of an older term'));
      }),
  },
  {
    name: 'leaders of two elections work on one sink, whatever terms they have',
    cites: 'Law 12',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ provision, ids, settle }) => {
        skipUnless(subject.takesTerms, 'the plugin takes no terms');
        const made = [
          await provision({ ctx: { fencing: { scope: 'group', term: 3 } } }),
          await provision({ ctx: { fencing: { scope: 'enrollment', term: 1 } } }),
          await provision({ ctx: { fencing: { scope: 'group', term: 3 } } }),
        ];
        await settle(async () => demandEqual([...(await ids())].sort(), [...made].sort(), 'what both made'));
      }),
  },
];
