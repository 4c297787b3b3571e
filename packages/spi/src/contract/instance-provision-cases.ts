import { type ContractCase, demand, demandEqual, demandRejects, skipUnless } from './contract-case.ts';
import { describeAll, type InstanceSubject, withScene } from './instance-subject.ts';

const needsKeys = 'the plugin does not honour idempotency keys';
const needsRestart = 'the subject cannot be restarted';
const needsInvalid = 'the subject knows no invalid properties';

/** Demands on Validate and Provision (GP §2.2, Law 7). */
export const instanceProvisionCases: readonly ContractCase<InstanceSubject>[] = [
  {
    name: 'validate accepts valid properties',
    cites: 'GP §2.2',
    run: async (subject, ctx) => {
      await subject.instance.validate({ properties: subject.properties(1) }, ctx);
    },
  },
  {
    name: 'validate refuses invalid properties',
    cites: 'GP §2.2',
    run: async ({ instance, invalidProperties }, ctx) => {
      skipUnless(invalidProperties !== undefined, needsInvalid);
      await demandRejects(
        instance.validate({ properties: invalidProperties }, ctx),
        ['INSTANCE_INVALID'],
        'validate of invalid properties',
      );
    },
  },
  {
    name: 'validate has no effect',
    cites: 'GP §2.2',
    run: async ({ instance, properties }, ctx) => {
      const before = await describeAll(instance, ctx, {});
      for (const n of [1, 2, 3]) await instance.validate({ properties: properties(n) }, ctx);
      demandEqual(await describeAll(instance, ctx, {}), before, 'what there is after three calls of validate');
    },
  },
  {
    name: 'provision of invalid properties makes nothing',
    cites: 'GP §2.2',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ tag, list }) => {
        const { instance, invalidProperties } = subject;
        skipUnless(invalidProperties !== undefined, needsInvalid);
        const spec = { Properties: invalidProperties, Tags: tag, Init: '', LogicalID: null, Attachments: null };
        await demandRejects(
          instance.provision({ spec }, ctx),
          ['INSTANCE_INVALID'],
          'provision with invalid properties',
        );
        demandEqual(await list(), [], 'what there is after a refused provision');
      }),
  },
  {
    name: 'a provisioned instance is described with its id and tags',
    cites: 'GP §2.2',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ tag, provision, list, settle }) => {
        const id = await provision({ tags: { colour: 'blue', empty: '', 'a=b': 'c=d' } });
        await settle(async () => {
          const found = (await list()).find(({ ID }) => ID === id);
          demand(found !== undefined, `describe must show the instance ${id} that provision answered`);
          for (const [key, value] of Object.entries({ ...tag, colour: 'blue', empty: '', 'a=b': 'c=d' })) {
            demandEqual(found.Tags?.[key], value, `the tag ${JSON.stringify(key)} of a provisioned instance`);
          }
        });
      }),
  },
  {
    name: 'provision keeps the logical id',
    cites: 'GP §2.2',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ provision, list, settle }) => {
        skipUnless(subject.keepsLogicalId, 'the plugin does not keep logical ids');
        const id = await provision({ logicalId: '10.0.0.7' });
        await settle(async () => {
          const found = (await list()).find(({ ID }) => ID === id);
          demandEqual(found?.LogicalID, '10.0.0.7', 'the LogicalID of an instance provisioned with one');
        });
      }),
  },
  {
    name: 'provision keeps the properties',
    cites: 'GP §2.2',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ provision, list, settle }) => {
        const { describedProperties } = subject;
        skipUnless(describedProperties !== undefined, 'what describe shows of properties is not known');
        const ids = [await provision({ n: 1 }), await provision({ n: 2 })];
        await settle(async () => {
          const found = await list({}, true);
          for (const [index, id] of ids.entries()) {
            const shown = found.find(({ ID }) => ID === id)?.Properties;
            demandEqual(shown, describedProperties(index + 1), 'the Properties of a description asked for with them');
          }
        });
      }),
  },
  {
    name: 'provisions without a key make one instance each',
    cites: 'GP §2.2',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ provision, ids, settle }) => {
        const made = [await provision(), await provision(), await provision()];
        demandEqual(new Set(made).size, 3, 'the number of ids that three provisions without a key give');
        await settle(async () => demandEqual(await ids(), made.toSorted(), 'the ids that describe shows'));
      }),
  },
  {
    name: 'the same key gives the living instance',
    cites: 'Law 7',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ provision, ids, newKey, settle }) => {
        skipUnless(subject.hasIdempotencyKeys, needsKeys);
        const key = newKey();
        const id = await provision({ key });
        demandEqual(
          await provision({ key }),
          id,
          'the id that a second provision with the same idempotency key answers',
        );
        await settle(async () => demandEqual(await ids(), [id], 'the ids after two provisions with one key'));
      }),
  },
  {
    name: 'other keys make other instances',
    cites: 'Law 7',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ provision, ids, newKey, settle }) => {
        skipUnless(subject.hasIdempotencyKeys, needsKeys);
        const made = [await provision({ key: newKey() }), await provision({ key: newKey() })];
        await settle(async () => demandEqual(await ids(), made.toSorted(), 'the ids after provisions with two keys'));
        demandEqual(new Set(made).size, 2, 'the number of ids that two keys give');
      }),
  },
  {
    name: 'calls at once with one key make one instance',
    cites: 'Law 7',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ provision, ids, newKey, settle }) => {
        skipUnless(subject.hasIdempotencyKeys, needsKeys);
        const key = newKey();
        const made = await Promise.all([provision({ key }), provision({ key }), provision({ key })]);
        demandEqual(new Set(made).size, 1, 'the number of ids that three provisions at once with one key give');
        await settle(async () => demandEqual((await ids()).length, 1, 'the number of instances they leave'));
      }),
  },
  {
    name: 'a key outlives a restart',
    cites: 'Law 7',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ provision, ids, newKey, settle }) => {
        skipUnless(subject.hasIdempotencyKeys, needsKeys);
        skipUnless(subject.restart, needsRestart);
        const key = newKey();
        const id = await provision({ key });
        await subject.restart();
        demandEqual(await provision({ key }), id, 'the id that the same key gives after a restart of the plugin');
        await settle(async () => demandEqual(await ids(), [id], 'the ids after a restart and the same key'));
      }),
  },
  {
    name: 'a key whose instance was destroyed makes a new one',
    cites: 'Law 7',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ provision, ids, newKey, settle }) => {
        skipUnless(subject.hasIdempotencyKeys, needsKeys);
        const key = newKey();
        const dead = await provision({ key });
        await subject.instance.destroy({ id: dead, context: { Reason: 'terminate' } }, ctx);
        const id = await provision({ key });
        await settle(async () =>
          demandEqual(await ids(), [id], 'the ids after a destroy and a provision with the same key'),
        );
      }),
  },
  {
    name: 'a key whose instance vanished makes a new one',
    cites: 'Law 7',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ provision, ids, newKey, settle }) => {
        skipUnless(subject.hasIdempotencyKeys, needsKeys);
        skipUnless(subject.world?.removeBehind, 'the subject cannot remove things behind the plugin');
        const key = newKey();
        await subject.world.removeBehind(await provision({ key }));
        const id = await provision({ key });
        await settle(async () =>
          demandEqual(await ids(), [id], 'the ids after an instance vanished and its key was provisioned again'),
        );
      }),
  },
  {
    name: 'instances outlive a restart',
    cites: 'Law 11',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ provision, ids, settle }) => {
        skipUnless(subject.restart, needsRestart);
        const id = await provision();
        await subject.restart();
        await settle(async () => demandEqual(await ids(), [id], 'the ids after a restart of the plugin'));
      }),
  },
];
