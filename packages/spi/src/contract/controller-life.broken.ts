import { AppError, type Spec } from '@infrakit/core';
import type { Controller } from '../controller.ts';
import { memoryControllerSubject } from '../reference/memory-controller-subject.ts';
import { type Change, changed, ctx, isThere, refuse } from './controller-change.broken.ts';
import type { ControllerSubject } from './controller-subject.ts';

const heldForEver = (): ControllerSubject =>
  changed((controller) => {
    const held = new Set<string>();
    return {
      hold: async (params) => {
        held.add(params.name);
        return controller.hold(params, ctx);
      },
      commit: async (params) => {
        const { name } = params.spec.metadata;
        return held.has(name) ? { object: params.spec } : controller.commit(params, ctx);
      },
    };
  });

const withoutBudget = (): ControllerSubject => {
  const subject = memoryControllerSubject();
  const { world, controller } = subject;
  if (world === undefined) return subject;
  const exceedBudget = async (name: string): Promise<string> => {
    const held = (await world.exceedBudget?.(name)) ?? '';
    await controller.approve({ name, plan: held }, ctx);
    return held;
  };
  return { ...subject, world: { ...world, exceedBudget } };
};

const zombie: Change = (controller) => {
  const destroyed = new Map<string, Spec>();
  return {
    destroy: async (params) => {
      if (await isThere(controller, params.name)) {
        destroyed.set(params.name, (await controller.spec(params, ctx)).spec);
      }
      return controller.destroy(params, ctx);
    },
    describe: async ({ search }) => {
      const { objects } = await controller.describe({ search }, ctx);
      const dead = [...destroyed.values()].filter(
        ({ metadata }) => search.name === undefined || metadata.name === search.name,
      );
      return { objects: [...objects, ...dead] };
    },
  };
};

/** Controllers with one thing wrong each, about what becomes of a rule once it is committed. */
export const brokenLives = [
  {
    what: 'cleans up downstream when it is freed',
    failing: 'free touches nothing downstream and keeps the rule, also when it is repeated',
    make: () =>
      changed((controller, { entries, remove }) => ({
        free: async (params) => {
          const freed = await controller.free(params, ctx);
          for (const { id } of entries()) remove(id);
          return freed;
        },
      })),
  },
  {
    what: 'cannot be freed twice',
    failing: 'free touches nothing downstream and keeps the rule, also when it is repeated',
    make: () => {
      const freed = new Set<string>();
      return changed((controller) => ({
        free: async (params) => {
          if (freed.has(params.name)) throw new Error('close of closed channel');
          freed.add(params.name);
          return controller.free(params, ctx);
        },
      }));
    },
  },
  {
    what: 'says that a rule is as it was at first',
    failing: 'status tells of the rules of a search, at the revision and in the phase that they are in',
    make: () =>
      changed((controller) => ({
        status: async (params) => {
          const { statuses } = await controller.status(params, ctx);
          return { statuses: statuses.map((status) => ({ ...status, revision: 1 })) };
        },
      })),
  },
  {
    what: 'goes on when it is freed',
    failing: 'a freed rule does nothing',
    make: () => changed((controller) => ({ free: ({ name }) => controller.describe({ search: { name } }, ctx) })),
  },
  {
    what: 'takes a commit of the same revision after free for a repetition',
    failing: 'a commit after free resumes, of the same revision too',
    make: () =>
      changed((controller) => ({
        commit: async (params) => {
          const { name } = params.spec.metadata;
          const present = (await isThere(controller, name)) ? (await controller.spec({ name }, ctx)).revision : 0;
          return present === params.revision ? { object: params.spec } : controller.commit(params, ctx);
        },
      })),
  },
  {
    what: 'goes on describing what was destroyed',
    failing: 'a destroyed rule is forgotten, and destroying it again is no error',
    make: () => changed(zombie),
  },
  {
    what: 'fails to destroy what is destroyed',
    failing: 'a destroyed rule is forgotten, and destroying it again is no error',
    make: () =>
      changed((controller) => ({
        destroy: async (params) =>
          (await isThere(controller, params.name)) ? controller.destroy(params, ctx) : refuse(params.name),
      })),
  },
  {
    what: 'cannot commit after a destroy',
    failing: 'free and destroy follow each other in any order, and a later commit begins anew',
    make: () => {
      const destroyed = new Set<string>();
      return changed((controller) => ({
        destroy: (params) => {
          destroyed.add(params.name);
          return controller.destroy(params, ctx);
        },
        commit: async (params) => {
          const { name } = params.spec.metadata;
          return destroyed.has(name) ? refuse(name) : controller.commit(params, ctx);
        },
      }));
    },
  },
  {
    what: 'frees nothing under a name that nobody knows, and says it is done',
    failing: 'a name that was never known is refused by every call that needs a rule',
    make: () => changed((controller) => ({ free: ({ name }) => controller.describe({ search: { name } }, ctx) })),
  },
  {
    what: 'takes a hold and goes on',
    failing: 'a held rule does nothing until it is resumed; describing goes on',
    make: () => changed(() => ({ hold: async () => ({}) })),
  },
  {
    what: 'stays held when it is resumed',
    failing: 'a held rule does nothing until it is resumed; describing goes on',
    make: () => changed(() => ({ resume: async () => ({}) })),
  },
  { what: 'stays held when it is committed', failing: 'a commit ends a hold', make: heldForEver },
  {
    what: 'takes any plan id for the present one',
    failing: 'destroys beyond the budget wait, and approving another plan is refused',
    make: () => changed((controller) => ({ approve: ({ name }) => controller.approve({ name }, ctx) })),
  },
  {
    what: 'has no budget',
    failing: 'destroys beyond the budget wait, and approving another plan is refused',
    make: withoutBudget,
  },
  {
    what: 'approves and does nothing',
    failing: 'approve lets exactly the held plan through, once',
    make: () =>
      changed((controller) => ({
        approve: async ({ name, plan }) => {
          const { spec } = await controller.spec({ name }, ctx);
          const { plan: present } = await controller.plan({ operation: 'commit', spec }, ctx);
          if (plan !== present.id) throw new AppError('PLAN_STALE', 'another plan');
          return { plan: present };
        },
      })),
  },
  {
    what: 'approves the same plan for ever',
    failing: 'approve lets exactly the held plan through, once',
    make: () => {
      const approved = new Map<string, Awaited<ReturnType<Controller['approve']>>>();
      return changed((controller) => ({
        approve: async (params) => {
          const plan = approved.get(params.plan ?? '') ?? (await controller.approve(params, ctx));
          approved.set(plan.plan.id, plan);
          return plan;
        },
      }));
    },
  },
  {
    what: 'answers that a plan is approved whose commit is past',
    failing: 'a commit resolves a hold, and its plan is stale then',
    make: () =>
      changed((controller) => ({
        approve: async ({ name, plan = '' }) =>
          controller.approve({ name, plan }, ctx).catch(() => ({ plan: { id: plan, messages: [], warnings: [] } })),
      })),
  },
  {
    what: 'explains nothing',
    failing: 'explain says something of what the rule has made, and changes nothing',
    make: () => changed(() => ({ explain: async () => ({ lines: [] }) })),
  },
  {
    what: 'removes what it is asked to explain',
    failing: 'explain says something of what the rule has made, and changes nothing',
    make: () =>
      changed((controller, { remove }) => ({
        explain: async (params) => {
          const explained = await controller.explain(params, ctx);
          await controller.free({ name: params.name }, ctx);
          remove(params.entry);
          return explained;
        },
      })),
  },
  {
    what: 'adopts all when it is told which',
    failing: 'an untagged entry counts as enrolled, and adopt takes it over',
    make: () => changed((controller) => ({ adopt: ({ name }) => controller.adopt({ name }, ctx) })),
  },
  {
    what: 'adopts in its answer only',
    failing: 'an untagged entry counts as enrolled, and adopt takes it over',
    make: () => changed(() => ({ adopt: async ({ ids = [] }) => ({ adopted: ids }) })),
  },
];
