import { objectName } from '@infrakit/core';
import { controllerView } from '@infrakit/runtime';
import type { CallContext, Group } from '@infrakit/spi';
import { groupNotFound } from './group-kind.ts';

/** The groups as seen from the object of one of them: it answers for that group alone (GP-G16). */
export const groupView = (group: Group, lookup: string, scope: string): Group => {
  const scoped =
    <P extends { readonly name: string }, R>(call: (params: P, ctx: CallContext) => Promise<R>) =>
    async (params: P, ctx: CallContext): Promise<R> => {
      if (objectName(lookup, params.name) !== scope) throw groupNotFound(params.name);
      return call(params, ctx);
    };
  return {
    ...controllerView(group, lookup, scope),
    members: scoped(group.members),
    size: scoped(group.size),
    setSize: scoped(group.setSize),
    destroyInstances: scoped(group.destroyInstances),
    update: scoped(group.update),
    registerConsumer: scoped(group.registerConsumer),
    acknowledge: scoped(group.acknowledge),
    unregisterConsumer: scoped(group.unregisterConsumer),
  };
};
