import type { SpecObject } from '@infrakit/core';
import type { Controller } from '@infrakit/spi';
import type { Manager } from './manager.ts';

/** An object under the name that it has in the stack: always `<stack>/<id>` for groups (GP-M15). */
const named =
  (stack: string) =>
  (object: SpecObject): SpecObject => ({
    ...object,
    metadata: { ...object.metadata, name: `${stack}/${object.metadata.name}` },
  });

/**
 * One target of a manager as a controller: commits and whatever else changes specs go through the store, the rest goes on
 * to the target. `stack` is set where objects are shown under the stack's own name.
 */
export const managerController = (manager: Manager, target: string, stack: string | null): Controller => {
  const { nameAt } = manager;
  const shown = stack === null ? (object: SpecObject) => object : named(stack);
  const at = () => manager.controllerOf(target);
  return {
    plan: async ({ operation, spec }, ctx) => {
      if (operation === 'commit') {
        const { object, plan } = await manager.plan(target, spec, ctx);
        return { object: shown(object), plan };
      }
      const name = nameAt(target, spec.metadata.name);
      return at().plan({ operation, spec: { ...spec, metadata: { ...spec.metadata, name } } }, ctx);
    },
    // The manager gives revisions itself; what a caller says of one is not used.
    commit: async ({ spec }, ctx) => ({ object: shown(await manager.commit(target, spec, ctx)) }),
    describe: async ({ search }, ctx) => {
      const name = search.name === undefined ? {} : { name: nameAt(target, search.name) };
      const { objects } = await at().describe({ search: { ...search, ...name } }, ctx);
      return { objects: objects.map(shown) };
    },
    status: async ({ search }, ctx) => {
      const name = search.name === undefined ? {} : { name: nameAt(target, search.name) };
      return at().status({ search: { ...search, ...name } }, ctx);
    },
    free: async ({ name }, ctx) => ({ objects: (await manager.free(target, name, ctx)).map(shown) }),
    destroy: async ({ name }, ctx) => {
      const destroyed = await manager.destroy(target, name, ctx);
      return { ...destroyed, objects: destroyed.objects.map(shown) };
    },
    spec: ({ name }, ctx) => at().spec({ name: nameAt(target, name) }, ctx),
    approve: (params, ctx) => at().approve({ ...params, name: nameAt(target, params.name) }, ctx),
    hold: (params, ctx) => at().hold({ ...params, name: nameAt(target, params.name) }, ctx),
    resume: ({ name }, ctx) => at().resume({ name: nameAt(target, name) }, ctx),
    explain: (params, ctx) => at().explain({ ...params, name: nameAt(target, params.name) }, ctx),
    adopt: (params, ctx) => at().adopt({ ...params, name: nameAt(target, params.name) }, ctx),
  };
};
