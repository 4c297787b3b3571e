import { toAppError } from '@infrakit/core';
import type { ManagedSpec } from '@infrakit/repeater';
import { controllerInterface } from '@infrakit/spi';
import type { CommandContext } from './command-context.ts';
import { objectsOf } from './objects.ts';
import { type Session, withSession } from './session.ts';

const kind = 'event-repeater';

/** The spec of this name that a manager keeps; null for none. */
const managedSpec = async (name: string, session: Session): Promise<ManagedSpec | null> => {
  await session.seen();
  for (const object of objectsOf(session.registry)) {
    if (object.proxyFor?.endsWith(`/${name}`) !== true || !object.interfaces.has(controllerInterface.name)) continue;
    const controller = session.plugins.resolve(controllerInterface, object.name);
    const read = async () => controller.spec({ name }, session.ctx());
    if ((await read()).spec.kind !== kind) continue;
    return {
      read: async () => (await read()).spec,
      commit: async (spec) => {
        await controller.commit({ spec, revision: (await read()).revision + 1 }, session.ctx());
      },
      state: async () => {
        const { objects } = await controller.describe({ search: { name } }, session.ctx());
        return objects[0]?.state;
      },
    };
  }
  return null;
};

/**
 * Runs something with the event-repeater spec of a name where a manager of this stack keeps one; false, and nothing is run, where
 * none does, or no stack runs here.
 */
export const whenManaged = async (
  name: string,
  context: CommandContext,
  run: (spec: ManagedSpec) => Promise<void>,
): Promise<boolean> => {
  let isConnected = false;
  try {
    return await withSession(context, async (session) => {
      isConnected = true;
      const spec = await managedSpec(name, session);
      if (spec !== null) await run(spec);
      return spec !== null;
    });
  } catch (thrown) {
    if (!isConnected && toAppError(thrown).code === 'BUS_UNAVAILABLE') return false;
    throw thrown;
  }
};
