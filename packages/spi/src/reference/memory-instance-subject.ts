import type { InstanceSubject } from '../contract/instance-subject.ts';
import type { Instance } from '../instance.ts';
import { memoryInstance } from './memory-instance.ts';
import { type MemoryWorld, memoryWorld } from './memory-world.ts';

export interface MemoryInstanceSubjectOptions {
  /** What stands between the suite and the memory instance: a proxy, a wrapper. Called again at each restart. */
  readonly wrap?: (instance: Instance, world: MemoryWorld) => Instance;
  readonly isRelabelRefused?: boolean;
  /** For a wrapper that shows writes late. */
  readonly isEventuallyConsistent?: boolean;
}

const faultsOf = (properties: unknown): string[] =>
  typeof properties === 'object' && properties !== null ? [] : ['properties must be an object'];

/** A memory instance as a subject of `instanceContract`, with all that a case can ask for. */
export const memoryInstanceSubject = async (
  options: MemoryInstanceSubjectOptions = {},
): Promise<InstanceSubject & AsyncDisposable> => {
  const { wrap = (instance: Instance) => instance, isRelabelRefused = false, isEventuallyConsistent = false } = options;
  const world = memoryWorld();
  const start = (): Instance => wrap(memoryInstance({ world, faultsOf, isRelabelRefused }).instance, world);
  let instance = start();
  const ending = (end: () => void) => async (): Promise<void> => end();
  const properties = (n: number): unknown => ({ size: n, disks: [{ kind: 'ssd' }] });
  return {
    get instance() {
      return instance;
    },
    properties,
    describedProperties: properties,
    invalidProperties: 'not an object',
    keepsLogicalId: true,
    isRelabelRefused,
    hasIdempotencyKeys: true,
    takesTerms: true,
    isEventuallyConsistent,
    longList: 250,
    world: {
      addForeign: world.addForeign,
      changeBehind: world.changeBehind,
      removeBehind: world.removeBehind,
      stall: async () => ending(world.stall()),
      tear: async () => ending(world.tear()),
    },
    restart: async () => {
      instance = start();
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
};
