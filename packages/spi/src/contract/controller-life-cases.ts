import { type ContractCase, demand, demandEqual, demandRejects, skipUnless } from './contract-case.ts';
import { type ControllerSubject, demandNames, withRules } from './controller-subject.ts';

/** Free, destroy, hold, resume, approve, explain and adopt. */
export const controllerLifeCases: readonly ContractCase<ControllerSubject>[] = [
  {
    name: 'free touches nothing downstream and keeps the rule, also when it is repeated',
    cites: 'EI §1.11, EI-C1',
    run: (subject, ctx) =>
      withRules(subject, ctx, async ({ controller, name, commit, describe, demandInForce, look, demandUntouched }) => {
        await commit(1, 1);
        const before = await look();
        demandNames((await controller.free({ name }, ctx)).objects, [name], [name]);
        await controller.free({ name }, ctx);
        await demandUntouched(before, 'a free');
        demandNames(await describe(), [name], [name]);
        await demandInForce(1, 1);
      }),
  },
  {
    name: 'status tells of the rules of a search, at the revision and in the phase that they are in',
    cites: 'DESIGN §6',
    run: (subject, ctx) =>
      withRules(subject, ctx, async ({ controller, name, commit, settle }) => {
        const status = async () => (await controller.status({ search: { name } }, ctx)).statuses;
        const phase = async () => (await status()).map((found) => [found.name, found.revision, found.phase]);
        demandEqual(await status(), [], 'the status of a name that is not there');
        await commit(1, 1);
        await commit(2, 2);
        demandEqual(await phase(), [[name, 2, 'active']], 'the status after a second commit');
        await settle(async () => {
          const kinds = (await status()).map(({ progress }) => progress.kind);
          demandEqual(kinds, ['converged'], 'the progress of a rule that has had its time');
        });
        await controller.hold({ name, reason: 'a test' }, ctx);
        demandEqual(await phase(), [[name, 2, 'held']], 'the status of a held rule');
        demandEqual((await status())[0]?.progress.kind, 'held', 'the progress of a held rule');
        await controller.resume({ name }, ctx);
        await controller.free({ name }, ctx);
        demandEqual(await phase(), [[name, 2, 'freed']], 'the status of a freed rule');
        await controller.destroy({ name }, ctx);
        demandEqual(await status(), [], 'the status of a destroyed rule');
      }),
  },
  {
    name: 'a freed rule does nothing',
    cites: 'EI §1.11, EI-C14',
    run: (subject, ctx) =>
      withRules(subject, ctx, async ({ controller, name, commit, look, demandTouched }) => {
        const disturb = subject.world?.disturb;
        skipUnless(disturb, 'there is no way to disturb what a rule has made');
        await commit(1, 1);
        const whole = await look();
        await controller.free({ name }, ctx);
        await disturb(name);
        await demandTouched(whole, 'a freed rule must do nothing; it made up for a disturbance');
      }),
  },
  {
    name: 'a commit after free resumes, of the same revision too',
    cites: 'EI-C1',
    run: (subject, ctx) =>
      withRules(subject, ctx, async ({ controller, name, commit, demandInForce, look, settle }) => {
        const disturb = subject.world?.disturb;
        skipUnless(disturb, 'there is no way to disturb what a rule has made');
        await commit(1, 1);
        const whole = await look();
        for (const revision of [1, 2]) {
          await controller.free({ name }, ctx);
          await disturb(name);
          await commit(1, revision);
          await demandInForce(1, revision);
          await settle(async () => {
            demandEqual(await look(), whole, `what lies downstream after free and a commit of revision ${revision}`);
          });
        }
      }),
  },
  {
    name: 'a destroyed rule is forgotten, and destroying it again is no error',
    cites: 'EI-C6, EI-C1',
    run: (subject, ctx) =>
      withRules(subject, ctx, async ({ controller, name, otherName, commit, describe }) => {
        await commit(1, 1);
        await controller.commit({ spec: subject.spec(otherName, 1), revision: 2 }, ctx);
        demandNames((await controller.destroy({ name }, ctx)).objects, [name], [name]);
        await controller.destroy({ name }, ctx);
        demandEqual(await describe(), [], 'the objects of a destroyed name');
        await demandRejects(controller.spec({ name }, ctx), [subject.unknownName], 'the spec of a destroyed name');
        const { objects } = await controller.describe({ search: {} }, ctx);
        demandNames(objects, [name, otherName], [otherName]);
      }),
  },
  {
    name: 'free and destroy follow each other in any order, and a later commit begins anew',
    cites: 'EI-C1',
    run: (subject, ctx) =>
      withRules(subject, ctx, async ({ controller, name, commit, demandInForce }) => {
        await commit(1, 1);
        await controller.free({ name }, ctx);
        await controller.destroy({ name }, ctx);
        await controller.free({ name }, ctx);
        await commit(2, 2);
        await demandInForce(2, 2);
      }),
  },
  {
    name: 'a name that was never known is refused by every call that needs a rule',
    cites: 'EI §1.11, EI-C13',
    run: (subject, ctx) =>
      withRules(subject, ctx, async ({ controller, name }) => {
        const calls: [string, Promise<unknown>][] = [
          ['free', controller.free({ name }, ctx)],
          ['destroy', controller.destroy({ name }, ctx)],
          ['spec', controller.spec({ name }, ctx)],
          ['approve', controller.approve({ name, plan: 'any' }, ctx)],
          ['hold', controller.hold({ name, reason: 'a test' }, ctx)],
          ['resume', controller.resume({ name }, ctx)],
          ['explain', controller.explain({ name, entry: 'any' }, ctx)],
          ['adopt', controller.adopt({ name }, ctx)],
        ];
        const refusals = calls.map(([what, call]) =>
          demandRejects(call, [subject.unknownName], `${what} of a name that was never known`),
        );
        await Promise.all(refusals);
      }),
  },
  {
    name: 'a held rule does nothing until it is resumed; describing goes on',
    cites: 'Law 6',
    run: (subject, ctx) =>
      withRules(subject, ctx, async ({ controller, name, commit, describe, look, demandTouched, settle }) => {
        const disturb = subject.world?.disturb;
        skipUnless(disturb, 'there is no way to disturb what a rule has made');
        await commit(1, 1);
        const whole = await look();
        await controller.hold({ name, reason: 'a test' }, ctx);
        await controller.hold({ name, reason: 'a test' }, ctx);
        await disturb(name);
        await demandTouched(whole, 'a held rule must do nothing; it made up for a disturbance');
        demandNames(await describe(), [name], [name]);
        await controller.resume({ name }, ctx);
        await controller.resume({ name }, ctx);
        await settle(async () => demandEqual(await look(), whole, 'what lies downstream after a resume'));
      }),
  },
  {
    name: 'a commit ends a hold',
    cites: 'Law 6',
    run: (subject, ctx) =>
      withRules(subject, ctx, async ({ controller, name, commit, look, settle }) => {
        const disturb = subject.world?.disturb;
        skipUnless(disturb, 'there is no way to disturb what a rule has made');
        await commit(1, 1);
        const whole = await look();
        await controller.hold({ name, reason: 'a test' }, ctx);
        await disturb(name);
        await commit(1, 2);
        await settle(async () => demandEqual(await look(), whole, 'what lies downstream after a commit'));
      }),
  },
  {
    name: 'destroys beyond the budget wait, and approving another plan is refused',
    cites: 'Law 6',
    run: (subject, ctx) =>
      withRules(subject, ctx, async ({ controller, name, commit, look, demandUntouched }) => {
        const exceed = subject.world?.exceedBudget;
        skipUnless(exceed, 'there is no way to exceed the budget of a rule');
        await commit(1, 1);
        const before = await look();
        const held = await exceed(name);
        const other = controller.approve({ name, plan: `not-${held}` }, ctx);
        await demandRejects(other, ['PLAN_STALE'], 'approving another plan than the one held');
        await demandUntouched(before, 'a hold');
      }),
  },
  {
    name: 'approve lets exactly the held plan through, once',
    cites: 'Law 6',
    run: (subject, ctx) =>
      withRules(subject, ctx, async ({ controller, name, commit, look, demandTouched, settle }) => {
        const exceed = subject.world?.exceedBudget;
        skipUnless(exceed, 'there is no way to exceed the budget of a rule');
        await commit(1, 1);
        const before = await look();
        const held = await exceed(name);
        const { plan } = await controller.approve({ name, plan: held }, ctx);
        demandEqual(plan.id, held, 'the id of the approved plan');
        await settle(() => demandTouched(before, 'an approved plan must be carried out'));
        const again = controller.approve({ name, plan: held }, ctx);
        await demandRejects(again, ['PLAN_STALE'], 'approving a plan that was carried out');
      }),
  },
  {
    name: 'a commit resolves a hold, and its plan is stale then',
    cites: 'Law 6',
    run: (subject, ctx) =>
      withRules(subject, ctx, async ({ controller, name, commit, look }) => {
        const exceed = subject.world?.exceedBudget;
        skipUnless(exceed, 'there is no way to exceed the budget of a rule');
        await commit(1, 1);
        const held = await exceed(name);
        await commit(2, 2);
        await look();
        const old = controller.approve({ name, plan: held }, ctx);
        await demandRejects(old, ['PLAN_STALE'], 'approving a plan from before a commit');
      }),
  },
  {
    name: 'explain says something of what the rule has made, and changes nothing',
    cites: 'Law 3',
    run: (subject, ctx) =>
      withRules(subject, ctx, async ({ controller, name, commit, look, demandUntouched }) => {
        const anEntry = subject.world?.anEntry;
        skipUnless(anEntry, 'there is no way to name something that a rule has made');
        await commit(1, 1);
        const before = await look();
        const { lines } = await controller.explain({ name, entry: await anEntry(name) }, ctx);
        demand(
          lines.some((line) => line.trim() !== ''),
          'explain must say why an entry is where it is',
        );
        await demandUntouched(before, 'an explanation');
      }),
  },
  {
    name: 'an untagged entry counts as enrolled, and adopt takes it over',
    cites: 'Law 4',
    run: (subject, ctx) =>
      withRules(subject, ctx, async ({ controller, name, commit, look }) => {
        const addUntagged = subject.world?.addUntagged;
        skipUnless(addUntagged, 'there is no way to add an untagged entry');
        const [first, second] = [await addUntagged(name), await addUntagged(name)];
        await commit(1, 1);
        await look();
        demandEqual((await controller.adopt({ name, ids: [first] }, ctx)).adopted, [first], 'the adopted entries');
        demandEqual((await controller.adopt({ name }, ctx)).adopted, [second], 'the entries that were left to adopt');
        await controller.adopt({ name, ids: [first] }, ctx);
        demandEqual((await controller.adopt({ name }, ctx)).adopted, [], 'what is left to adopt then');
      }),
  },
];
