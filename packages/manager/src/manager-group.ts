import type { Controller, Group } from '@infrakit/spi';
import type { Manager } from './manager.ts';

/** All groups of a stack as the Group interface: targets are stored before groups hear of them (GP-M8). */
export const managerGroup = (manager: Manager, target: string, controller: Controller): Group => {
  const { group } = manager;
  const bare = <P extends { readonly name: string }>(params: P): P => ({
    ...params,
    name: manager.nameAt(target, params.name),
  });
  return {
    ...controller,
    members: (params, ctx) => group.members(bare(params), ctx),
    size: (params, ctx) => group.size(bare(params), ctx),
    setSize: ({ name, size }, ctx) => manager.setSize(name, size, ctx),
    destroyInstances: async ({ name, instances }, ctx) => ({
      size: await manager.destroyInstances(name, instances, ctx),
    }),
    update: (params, ctx) => group.update(bare(params), ctx),
    registerConsumer: (params, ctx) => group.registerConsumer(bare(params), ctx),
    acknowledge: (params, ctx) => group.acknowledge(bare(params), ctx),
    unregisterConsumer: (params, ctx) => group.unregisterConsumer(bare(params), ctx),
  };
};
