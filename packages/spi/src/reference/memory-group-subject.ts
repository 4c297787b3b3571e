import type { Spec } from '@infrakit/core';
import type { GroupSubject } from '../contract/group-subject.ts';
import { testingContext } from '../contract/testing-context.ts';
import type { Group } from '../group.ts';
import { type MemoryMachines, memoryGroup } from './memory-group.ts';

type Wrap = (group: Group, machines: MemoryMachines) => Group;

const groupSpec = (name: string, Allocation: object, n: number): Spec => ({
  kind: 'group',
  metadata: { name },
  properties: { Allocation, Instance: { Plugin: 'memory', Properties: { n } }, Flavor: { Plugin: 'vanilla' } },
});

/** A memory group as a subject of the group contract; `wrap` puts something around it. */
export const memoryGroupSubject = (wrap: Wrap = (group) => group): GroupSubject & AsyncDisposable => {
  const { group: inner, machines } = memoryGroup();
  const group = wrap(inner, machines);
  const ctx = testingContext();
  const sized = (name: string, Size: number, n: number): Spec => groupSpec(name, { Size }, n);
  return {
    group,
    sized,
    quorum: (name, LogicalIDs) => groupSpec(name, { LogicalIDs }, 1),
    vanish: async (name, id) => machines.vanish(name, id),
    spec: (name, n) => sized(name, n + 1, n),
    invalid: { spec: (name) => groupSpec(name, {}, 1), code: 'GROUP_INVALID' },
    unknownName: 'GROUP_NOT_FOUND',
    isEventuallyConsistent: false,
    world: {
      look: async () => {
        const { objects } = await inner.describe({ search: {} }, ctx);
        return objects.map(({ metadata: { name } }) => `${name} has ${machines.members(name).length}`).sort();
      },
      cycle: async () => {},
      disturb: async (name) => {
        const [id] = machines.members(name);
        if (id !== undefined) machines.vanish(name, id);
      },
      anEntry: async (name) => machines.members(name)[0] ?? name,
    },
    [Symbol.asyncDispose]: async () => {},
  };
};
