import { AppError } from '@infrakit/core';
import { changed, ctx, isThere, refuse } from './controller-change.broken.ts';
import type { ControllerSubject } from './controller-subject.ts';

const withPlanId = (idOf: () => string): ControllerSubject =>
  changed((controller) => ({
    plan: async (params) => {
      const { object, plan } = await controller.plan(params, ctx);
      return { object, plan: { ...plan, id: idOf() } };
    },
  }));

/** Controllers with one thing wrong each, about plan, commit, describe or spec. */
export const brokenCommits = [
  {
    what: 'commits when it is asked to plan',
    failing: 'planning a commit changes nothing and makes no rule',
    make: () =>
      changed((controller) => ({
        plan: async (params) => {
          const planned = await controller.plan(params, ctx);
          if (params.operation === 'commit') await controller.commit({ spec: params.spec, revision: 1 }, ctx);
          return planned;
        },
      })),
  },
  {
    what: 'destroys when it is asked to plan that',
    failing: 'planning over a rule in force leaves it as it is',
    make: () =>
      changed((controller) => ({
        plan: async (params) => {
          const planned = await controller.plan(params, ctx);
          if (params.operation === 'destroy') await controller.destroy({ name: params.spec.metadata.name }, ctx);
          return planned;
        },
      })),
  },
  {
    what: 'numbers its plans',
    failing: 'the same plan has the same id and text, another one another id',
    make: () => {
      let count = 0;
      return withPlanId(() => {
        count += 1;
        return `plan-${count}`;
      });
    },
  },
  {
    what: 'gives every plan one id',
    failing: 'the same plan has the same id and text, another one another id',
    make: () => withPlanId(() => 'plan'),
  },
  {
    what: 'describes an object under another name',
    failing: 'a commit makes the rule, and answers and describes its object',
    make: () =>
      changed((controller) => ({
        commit: async (params) => {
          const { object } = await controller.commit(params, ctx);
          return { object: { ...object, metadata: { ...object.metadata, name: 'memory/other' } } };
        },
      })),
  },
  {
    what: 'keeps a spec and does nothing about it',
    failing: 'a commit does what its plan said: afterwards the same plan says something else',
    make: () =>
      changed((controller, { entries, remove }) => ({
        commit: async (params) => {
          const committed = await controller.commit(params, ctx);
          await controller.hold({ name: params.spec.metadata.name, reason: '' }, ctx);
          for (const { id } of entries()) remove(id);
          return committed;
        },
      })),
  },
  {
    what: 'refuses a revision that it has',
    failing: 'a commit of the same revision again changes nothing',
    make: () =>
      changed((controller) => ({
        commit: async (params) => {
          const { name } = params.spec.metadata;
          const present = (await isThere(controller, name)) ? (await controller.spec({ name }, ctx)).revision : 0;
          if (present === params.revision) throw new AppError('REVISION_STALE', 'seen before');
          return controller.commit(params, ctx);
        },
      })),
  },
  {
    what: 'makes everything once more at each commit',
    failing: 'a commit of the same revision again changes nothing',
    make: () =>
      changed((controller, { add }) => ({
        commit: async (params) => {
          const { name } = params.spec.metadata;
          const isSecond = await isThere(controller, name);
          const committed = await controller.commit(params, ctx);
          if (isSecond) add(`${name}/x`, name);
          return committed;
        },
      })),
  },
  {
    what: 'takes older revisions',
    failing: 'a commit of an older revision is refused and changes nothing',
    make: () => {
      let count = 0;
      return changed((controller) => ({
        commit: ({ spec }) => {
          count += 1;
          return controller.commit({ spec, revision: count }, ctx);
        },
      }));
    },
  },
  {
    what: 'keeps its first spec for ever',
    failing: 'a newer revision takes the place of the one in force',
    make: () =>
      changed((controller) => ({
        commit: async (params) => {
          const { name } = params.spec.metadata;
          return (await isThere(controller, name)) ? { object: params.spec } : controller.commit(params, ctx);
        },
      })),
  },
  {
    what: 'makes a rule before it looks at the spec',
    failing: 'a bad spec is refused by plan and commit, and nothing is kept under its name',
    make: () =>
      changed((controller) => ({
        commit: async ({ spec, revision }) => {
          const { name } = spec.metadata;
          if (!(await isThere(controller, name))) {
            await controller.commit({ spec: { ...spec, properties: { List: [] } }, revision }, ctx);
          }
          return controller.commit({ spec, revision: revision + 1 }, ctx);
        },
      })),
  },
  {
    what: 'ends the old rule before it looks at the new spec',
    failing: 'a bad spec leaves the rule in force running',
    make: () =>
      changed((controller) => ({
        commit: async (params) => {
          const { name } = params.spec.metadata;
          if (await isThere(controller, name)) await controller.destroy({ name }, ctx);
          return controller.commit(params, ctx);
        },
      })),
  },
  {
    what: 'fails to describe a name that is not there',
    failing: 'describe gives all rules, or those of a name, and nothing for a name that is not there',
    make: () =>
      changed((controller) => ({
        describe: async (params) => {
          const described = await controller.describe(params, ctx);
          return described.objects.length === 0 ? refuse('such') : described;
        },
      })),
  },
  {
    what: 'finds nothing when no name is given',
    failing: 'describe gives all rules, or those of a name, and nothing for a name that is not there',
    make: () =>
      changed((controller) => ({
        describe: async ({ search }) =>
          search.name === undefined ? { objects: [] } : controller.describe({ search }, ctx),
      })),
  },
  {
    what: 'ignores tags in a search',
    failing: 'describe by tags gives those that have all of them',
    make: () =>
      changed((controller) => ({
        describe: ({ search: { tags: _, ...search } }) => controller.describe({ search }, ctx),
      })),
  },
  {
    what: 'matches any one of the tags',
    failing: 'describe by tags gives those that have all of them',
    make: () =>
      changed((controller) => ({
        describe: async ({ search: { tags = {}, ...search } }) => {
          const { objects } = await controller.describe({ search }, ctx);
          const wanted = Object.entries(tags);
          const matches = (found: Record<string, string>): boolean =>
            wanted.length === 0 || wanted.some(([key, value]) => found[key] === value);
          return { objects: objects.filter(({ metadata }) => matches(metadata.tags ?? {})) };
        },
      })),
  },
];
