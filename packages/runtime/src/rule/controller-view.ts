import { AppError, objectName } from '@infrakit/core';
import type { Controller, Search } from '@infrakit/spi';

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
  const searching =
    <C, R>(call: (params: { readonly search: Search }, ctx: C) => Promise<R>) =>
    async ({ search }: { readonly search: Search }, ctx: C): Promise<R> => {
      if (search.name !== undefined) check(search.name);
      return call({ search: { ...search, name: scope } }, ctx);
    };
  return {
    plan: specified(controller.plan),
    commit: specified(controller.commit),
    describe: searching(controller.describe),
    status: searching(controller.status),
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
