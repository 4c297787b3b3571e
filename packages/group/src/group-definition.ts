import { Duration } from '@infrakit/core';
import { controllerView, systemClock, topicTree, workerPool } from '@infrakit/runtime';
import {
  controllerInterface,
  eventInterface,
  groupInterface,
  type PluginDefinition,
  type PluginObject,
  pluginObject,
} from '@infrakit/spi';
import { z } from 'zod';
import { groupController } from './group-controller.ts';
import { groupView } from './group-view.ts';
import { newsKinds } from './member-feed.ts';

/** Start options of the group controller (GP §1.2). */
export const GroupOptions = z.strictObject({
  /** The logical or instance id of the host that this process runs on: destroyed last, never replaced. */
  Self: z.string().min(1).optional(),
  /** A full look at each group at least this often; what happens in between is acted on at once. */
  PollInterval: Duration.prefault('10s').refine((ms) => ms > 0, { error: 'must be above 0' }),
  /** At most so many members of one group are made or destroyed at once; 0 is the built-in bound (GP-G19). */
  MaxParallelNum: z.number().int().min(0).default(0),
});
export type GroupOptions = z.infer<typeof GroupOptions>;

const environment = {
  INFRAKIT_GROUP_SELF_LOGICAL_ID: (text: string) => (text === '' ? {} : { Self: text }),
  INFRAKIT_GROUP_POLL_INTERVAL: (text: string) => ({ PollInterval: text }),
  INFRAKIT_GROUP_MAX_PARALLEL_NUM: (text: string) => ({ MaxParallelNum: Number(text) }),
};

/** Members made or destroyed at once, and begun in one turn of the event loop: what is asked meanwhile is answered in between. */
const parallel = { all: 1_024, perGroup: 256, perTurn: 32 };

/** Groups: `<name>` for all of them, `<name>/<group>` for each (GP §1, DESIGN §3). */
export const groupDefinition: PluginDefinition<typeof GroupOptions> = {
  kind: 'group',
  aliases: ['group-stateless'],
  summary: 'keeps as many instances alive as a spec wants, and publishes who they are',
  isSingle: true,
  options: GroupOptions,
  environment,
  start: async (deps) => {
    const { name, options } = deps;
    const pool = workerPool({
      concurrency: parallel.all,
      perTurn: parallel.perTurn,
      perQueue: options.MaxParallelNum > 0 ? options.MaxParallelNum : parallel.perGroup,
    });
    const { group, names, stop } = await groupController({
      ...deps,
      clock: systemClock,
      pool,
      self: options.Self,
      pollIntervalMs: options.PollInterval,
      changed: deps.objectsChanged,
    });
    const topics = (): string[] => names().flatMap((each) => newsKinds.map((kind) => `${each}/member/${kind}`));
    const whole = [
      pluginObject({ object: '', description: groupInterface, implementation: group }),
      pluginObject({ object: '', description: controllerInterface, implementation: group }),
      // What it says it publishes is what it does publish (GP-E12).
      pluginObject({ object: '', description: eventInterface, implementation: topicTree(topics) }),
    ];
    const views = new Map<string, readonly PluginObject[]>();
    const viewOf = (object: string): readonly PluginObject[] => {
      const known = views.get(object) ?? [
        pluginObject({ object, description: groupInterface, implementation: groupView(group, name, object) }),
        pluginObject({ object, description: controllerInterface, implementation: controllerView(group, name, object) }),
      ];
      views.set(object, known);
      return known;
    };
    return {
      objects: () => [...whole, ...names().flatMap(viewOf)],
      stop: async () => {
        await stop();
        await pool.close();
      },
    };
  },
};
