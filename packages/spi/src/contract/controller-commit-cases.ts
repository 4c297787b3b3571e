import type { ErrorCode } from '@infrakit/core';
import { type ContractCase, demand, demandEqual, demandRejects, skipUnless } from './contract-case.ts';
import { type ControllerSubject, demandNames, withRules } from './controller-subject.ts';

const stale: readonly ErrorCode[] = ['REVISION_STALE'];

/** Plan, commit, describe and spec. */
export const controllerCommitCases: readonly ContractCase<ControllerSubject>[] = [
  {
    name: 'planning a commit changes nothing and makes no rule',
    cites: 'Law 3, EI-C5',
    run: (subject, ctx) =>
      withRules(subject, ctx, async ({ controller, name, describe, look, demandUntouched }) => {
        const before = await look();
        const { object } = await controller.plan({ operation: 'commit', spec: subject.spec(name, 1) }, ctx);
        demandEqual(object.metadata.name, name, 'the name of the planned object');
        await demandUntouched(before, 'a plan');
        demandEqual(await describe(), [], 'the objects of a name that was only planned');
        await demandRejects(controller.spec({ name }, ctx), [subject.unknownName], 'the spec of a planned name');
        await demandRejects(controller.free({ name }, ctx), [subject.unknownName], 'freeing a planned name');
      }),
  },
  {
    name: 'planning over a rule in force leaves it as it is',
    cites: 'Law 3',
    run: (subject, ctx) =>
      withRules(subject, ctx, async ({ controller, name, commit, demandInForce, look, demandUntouched }) => {
        await commit(1, 1);
        const before = await look();
        await controller.plan({ operation: 'commit', spec: subject.spec(name, 2) }, ctx);
        await controller.plan({ operation: 'destroy', spec: subject.spec(name, 1) }, ctx);
        await demandUntouched(before, 'two plans');
        await demandInForce(1, 1);
      }),
  },
  {
    name: 'the same plan has the same id and text, another one another id',
    cites: 'Law 3',
    run: (subject, ctx) =>
      withRules(subject, ctx, async ({ controller, name }) => {
        const planOf = async (n: number) =>
          (await controller.plan({ operation: 'commit', spec: subject.spec(name, n) }, ctx)).plan;
        const plan = await planOf(1);
        demandEqual(await planOf(1), plan, 'the plan of the same spec in the same world');
        demand((await planOf(2)).id !== plan.id, 'the plan of another spec must have another id');
      }),
  },
  {
    name: 'a commit makes the rule, and answers and describes its object',
    cites: 'EI §1.11',
    run: (subject, ctx) =>
      withRules(subject, ctx, async ({ controller, name, describe, demandInForce }) => {
        const spec = subject.spec(name, 1);
        const { object } = await controller.commit({ spec, revision: 1 }, ctx);
        demandEqual([object.kind, object.metadata.name], [spec.kind, name], 'kind and name of the committed object');
        const objects = await describe();
        demandNames(objects, [name], [name]);
        demandEqual(objects[0]?.kind, spec.kind, 'the kind of the described object');
        await demandInForce(1, 1);
      }),
  },
  {
    name: 'a commit does what its plan said: afterwards the same plan says something else',
    cites: 'Law 3',
    run: (subject, ctx) =>
      withRules(subject, ctx, async ({ controller, name, commit, settle }) => {
        const planOf = async () =>
          (await controller.plan({ operation: 'commit', spec: subject.spec(name, 1) }, ctx)).plan;
        const { id } = await planOf();
        await commit(1, 1);
        await settle(async () => {
          demand((await planOf()).id !== id, 'once a commit has acted, its plan must not be to do the same again');
        });
      }),
  },
  {
    name: 'a commit of the same revision again changes nothing',
    cites: 'DESIGN §5 commit',
    run: (subject, ctx) =>
      withRules(subject, ctx, async ({ name, commit, describe, demandInForce, look, demandUntouched }) => {
        await commit(1, 3);
        const before = await look();
        await commit(1, 3);
        await demandUntouched(before, 'a repeated commit');
        await demandInForce(1, 3);
        demandNames(await describe(), [name], [name]);
      }),
  },
  {
    name: 'a commit of an older revision is refused and changes nothing',
    cites: 'DESIGN §5 commit',
    run: (subject, ctx) =>
      withRules(subject, ctx, async ({ controller, name, commit, demandInForce, look, demandUntouched }) => {
        await commit(1, 3);
        const before = await look();
        const older = controller.commit({ spec: subject.spec(name, 2), revision: 2 }, ctx);
        await demandRejects(older, stale, 'a commit of an older revision');
        await demandInForce(1, 3);
        await demandUntouched(before, 'a refused commit');
      }),
  },
  {
    name: 'a newer revision takes the place of the one in force',
    cites: 'DESIGN §5 commit',
    run: (subject, ctx) =>
      withRules(subject, ctx, async ({ name, commit, describe, demandInForce }) => {
        await commit(1, 3);
        await commit(2, 7);
        await demandInForce(2, 7);
        demandNames(await describe(), [name], [name]);
      }),
  },
  {
    name: 'a bad spec is refused by plan and commit, and nothing is kept under its name',
    cites: 'EI-C5',
    run: (subject, ctx) =>
      withRules(subject, ctx, async ({ controller, name, describe, look, demandUntouched }) => {
        const { invalid, unknownName } = subject;
        skipUnless(invalid, 'the controller takes every spec');
        const spec = invalid.spec(name);
        const before = await look();
        await demandRejects(controller.plan({ operation: 'commit', spec }, ctx), [invalid.code], 'planning a bad spec');
        await demandRejects(controller.commit({ spec, revision: 1 }, ctx), [invalid.code], 'committing a bad spec');
        demandEqual(await describe(), [], 'the objects of a name whose commit was refused');
        await demandRejects(controller.destroy({ name }, ctx), [unknownName], 'destroying what was refused');
        await demandUntouched(before, 'a refused commit');
      }),
  },
  {
    name: 'a bad spec leaves the rule in force running',
    cites: 'EI-C3',
    run: (subject, ctx) =>
      withRules(subject, ctx, async ({ controller, name, commit, demandInForce, look, demandUntouched }) => {
        const { invalid } = subject;
        skipUnless(invalid, 'the controller takes every spec');
        await commit(1, 1);
        const before = await look();
        const bad = controller.commit({ spec: invalid.spec(name), revision: 2 }, ctx);
        await demandRejects(bad, [invalid.code], 'committing a bad spec');
        await demandInForce(1, 1);
        await demandUntouched(before, 'a refused commit');
      }),
  },
  {
    name: 'describe gives all rules, or those of a name, and nothing for a name that is not there',
    cites: 'EI §2.3, EI-C9',
    run: (subject, ctx) =>
      withRules(subject, ctx, async ({ controller, name, otherName, commit, describe }) => {
        const mine = [name, otherName];
        demandEqual(await describe(), [], 'the objects of a name that is not there');
        await commit(1, 1);
        await controller.commit({ spec: subject.spec(otherName, 1), revision: 2 }, ctx);
        demandNames((await controller.describe({ search: {} }, ctx)).objects, mine, mine);
        demandNames(await describe(), mine, [name]);
      }),
  },
  {
    name: 'describe by tags gives those that have all of them',
    cites: 'EI-C9',
    run: (subject, ctx) =>
      withRules(subject, ctx, async ({ controller, name, otherName }) => {
        const commit = async (rule: string, tags: Record<string, string>, revision: number): Promise<void> => {
          const spec = subject.spec(rule, 1);
          await controller.commit({ spec: { ...spec, metadata: { ...spec.metadata, tags } }, revision }, ctx);
        };
        await commit(name, { [name]: 'yes', tier: 'one' }, 1);
        await commit(otherName, { tier: 'two' }, 2);
        const found = async (search: { name?: string; tags: Record<string, string> }) =>
          (await controller.describe({ search }, ctx)).objects;
        const mine = [name, otherName];
        demandNames(await found({ tags: { [name]: 'yes' } }), mine, [name]);
        demandNames(await found({ tags: { [name]: 'yes', tier: 'one' } }), mine, [name]);
        demandNames(await found({ tags: { [name]: 'yes', tier: 'two' } }), mine, []);
        demandNames(await found({ tags: { absent: '' } }), mine, []);
        demandNames(await found({ name: otherName, tags: { tier: 'two' } }), mine, [otherName]);
        demandNames(await found({ name: otherName, tags: { tier: 'one' } }), mine, []);
      }),
  },
];
