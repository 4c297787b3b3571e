import { systemClock } from '@infrakit/runtime';
import type { PluginDefinition } from '@infrakit/spi';
import { startManager } from './manager.ts';
import { managerObjects } from './manager-objects.ts';
import { ManagerOptions, managerEnvironment } from './manager-options.ts';
import { openSpecBook } from './spec-book.ts';

/** What is committed in a stack, and where each commit goes (GP §4.5–4.7). */
export const managerDefinition: PluginDefinition<typeof ManagerOptions> = {
  kind: 'manager',
  summary: 'keeps what is committed, and gives it to groups and controllers',
  isSingle: true,
  options: ManagerOptions,
  environment: managerEnvironment,
  start: async (deps) => {
    const { name, options, plugins, log, random, objectsChanged } = deps;
    const book = await openSpecBook(deps.store, log, { signal: new AbortController().signal, timeoutMs: 30_000 });
    const manager = startManager({ name, options, book, plugins, log, random, objectsChanged, clock: systemClock });
    return { objects: () => managerObjects(manager, { name, options }), stop: manager.stop };
  },
};
