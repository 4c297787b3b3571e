import type { Event } from '@infrakit/core';
import { dockerDefinition } from '@infrakit/plugin-docker';
import {
  direct,
  type Instance,
  instanceInterface,
  type PluginDeps,
  type RunningPlugin,
  realAfter,
  testingContext,
} from '@infrakit/spi';

/** The docker plugin on a real engine, in this process. */
export interface ContainersPlugin {
  readonly instance: Instance;
  readonly plugin: RunningPlugin;
}

export const ctx = testingContext({ timeoutMs: 30_000 });

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
let ids = 0;

/** Starts the plugin under a name; what it publishes is added to `events`. */
export const startContainers = async ({
  name,
  options: given,
  events = [],
}: {
  readonly name: string;
  readonly options: object;
  readonly events?: Event[];
}): Promise<ContainersPlugin> => {
  const newId = (): string => {
    ids += 1;
    return `c${ids}`;
  };
  const options = dockerDefinition.options.parse(given);
  const publish = (event: Event): void => void events.push(event);
  const deps = { name, options, newId, log, nowMs: Date.now, events: { publish } } as unknown as PluginDeps<
    typeof options
  >;
  const plugin = await dockerDefinition.start(deps);
  const implementation = plugin.objects().find(({ object }) => object === 'container')
    ?.implementation as unknown as Instance;
  return { plugin, instance: direct(instanceInterface, implementation, { after: realAfter }) };
};

/** What an instance is asked to be made by. */
export const spec = (Properties: unknown, Tags: Record<string, string> = {}) => ({
  Properties,
  Tags,
  Init: '',
  LogicalID: null,
  Attachments: null,
});

/** Waits until it is so. */
export const until = async (check: () => boolean | Promise<boolean>): Promise<void> => {
  const endMs = Date.now() + 10_000;
  while (!(await check())) {
    if (Date.now() > endMs) throw new Error('it did not come about within 10 s');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

/** The ids that are described. */
export const idsOf = async (instance: Instance): Promise<string[]> => {
  const listing = await instance.describe({ tags: {}, properties: false }, ctx);
  return listing.kind === 'instances' ? listing.instances.map(({ ID }) => ID) : [];
};
