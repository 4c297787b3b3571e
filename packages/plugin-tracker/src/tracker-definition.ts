import { Duration, PluginName } from '@infrakit/core';
import { systemClock, topicTree } from '@infrakit/runtime';
import { eventInterface, instanceInterface, type PluginDefinition, pluginObject } from '@infrakit/spi';
import { z } from 'zod';
import { startTracker } from './tracker.ts';

/** What to track (GP §3.4): instance plugins, how often, and which instances of them. */
export const TrackerOptions = z.strictObject({
  Plugins: z.array(PluginName).min(1),
  Interval: Duration.refine((ms) => ms >= 100, { error: 'Interval must be at least 100ms' }).default(3_000),
  Tags: z.record(z.string(), z.string()).default({}),
});

const leaves = ['error', 'found', 'lost'];

/** Instances that come and go, as events `<plugin>/found`, `<plugin>/lost` and `<plugin>/error` (GP §3.4). */
export const trackerDefinition: PluginDefinition<typeof TrackerOptions> = {
  kind: 'tracker',
  summary: 'instances that come and go, as events',
  isSingle: false,
  options: TrackerOptions,
  start: async ({ options, plugins, events }) => {
    const trackers = options.Plugins.map((name) => {
      const instance = plugins.resolve(instanceInterface, name);
      const tracked = { name, instance, tags: options.Tags, everyMs: options.Interval };
      return startTracker(tracked, systemClock, events.publish);
    });
    const topics = options.Plugins.flatMap((name) => leaves.map((leaf) => `${name}/${leaf}`));
    const objects = [
      pluginObject({ object: '', description: eventInterface, implementation: topicTree(() => topics) }),
    ];
    return {
      objects: () => objects,
      stop: async () => {
        await Promise.all(trackers.map((tracker) => tracker.stop()));
      },
    };
  },
};
