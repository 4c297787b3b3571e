import { AppError, objectName } from '@infrakit/core';
import type { Controller } from '@infrakit/spi';

/**
 * A controller as seen from the object of one of its rules: it shares everything with the controller, answers for that
 * rule alone, and refuses other names (EI-C12, GP-G16).
 */
export const controllerView = (controller: Controller, lookup: string, scope: string): Controller => {
  const check = (name: string): void => {
    if (objectName(lookup, name) === scope) return;
    throw new AppError('RULE_NOT_FOUND', `${lookup}/${scope} answers for ${scope} only, not for ${name}`);
  };
  const scoped =
    <P extends { readonly name: string }, C, R>(call: (params: P, ctx: C) => Promise<R>) =>
    async (params: P, ctx: C): Promise<R> => {
      check(params.name);
      return call(params, ctx);
    };
  const specified =
    <P extends { readonly spec: { readonly metadata: { readonly name: string } } }, C, R>(
      call: (params: P, ctx: C) => Promise<R>,
    ) =>
    async (params: P, ctx: C): Promise<R> => {
      check(params.spec.metadata.name);
      return call(params, ctx);
    };
  return {
    plan: specified(controller.plan),
    commit: specified(controller.commit),
    describe: async ({ search }, ctx) => {
      if (search.name !== undefined) check(search.name);
      return controller.describe({ search: { ...search, name: scope } }, ctx);
    },
    free: scoped(controller.free),
    destroy: scoped(controller.destroy),
    spec: scoped(controller.spec),
    approve: scoped(controller.approve),
    hold: scoped(controller.hold),
    resume: scoped(controller.resume),
    explain: scoped(controller.explain),
    adopt: scoped(controller.adopt),
  };
};
