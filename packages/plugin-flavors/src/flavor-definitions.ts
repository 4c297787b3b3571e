import { flavorInterface, type PluginDefinition, pluginObject, type RunningPlugin } from '@infrakit/spi';
import { z } from 'zod';
import { comboFlavor } from './combo.ts';
import { initScripts } from './init-script.ts';
import { vanillaFlavor } from './vanilla.ts';

const NoOptions = z.strictObject({});

const running = (implementation: ReturnType<typeof vanillaFlavor>): RunningPlugin => {
  const objects = [pluginObject({ object: '', description: flavorInterface, implementation })];
  return { objects: () => objects, stop: async () => undefined };
};

/** Init lines or a script, tags and attachments for each member (GP §2.9). */
export const vanillaDefinition: PluginDefinition<typeof NoOptions> = {
  kind: 'vanilla',
  summary: 'init lines, tags and attachments for each member',
  isSingle: false,
  options: NoOptions,
  start: async ({ nowMs }) => running(vanillaFlavor(initScripts(nowMs))),
};

/** Several flavors as one (GP §2.9). */
export const comboDefinition: PluginDefinition<typeof NoOptions> = {
  kind: 'combo',
  summary: 'several flavors as one',
  isSingle: false,
  options: NoOptions,
  start: async ({ plugins }) => running(comboFlavor(plugins)),
};
