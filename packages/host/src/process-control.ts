import { AppError } from '@infrakit/core';
import { mutating, type PluginObject, pluginObject, reading, type SpiOf } from '@infrakit/spi';
import { z } from 'zod';
import { ObjectHealth } from './health.ts';

/** A plugin of a process. */
export const PluginStatus = z.strictObject({
  name: z.string().min(1),
  kind: z.string().min(1),
  role: z.enum(['active', 'standby']),
  health: z.array(ObjectHealth),
});
export type PluginStatus = z.infer<typeof PluginStatus>;

/** A process that runs plugins. */
export const ProcessStatus = z.strictObject({
  pid: z.number().int().positive(),
  host: z.string().min(1),
  version: z.string().min(1),
  uptimeMs: z.number().min(0),
  plugins: z.array(PluginStatus),
});
export type ProcessStatus = z.infer<typeof ProcessStatus>;

const Nothing = z.strictObject({});
const stopTimeoutMs = 15_000;

/**
 * Control of a process (GP-L2). `stopPlugin` answers when the plugin is off the bus; with the last one the process ends.
 * `stop` answers at once and then ends everything: the process is gone when its topic is. Errors: `PLUGIN_UNKNOWN`.
 */
export const processInterface = {
  name: 'Process',
  version: '1.0.0',
  methods: {
    describe: reading(Nothing, ProcessStatus),
    stopPlugin: mutating(z.strictObject({ name: z.string().min(1) }), Nothing, { timeoutMs: stopTimeoutMs }),
    stop: mutating(Nothing, Nothing),
  },
} as const;

/** {@link processInterface} as TypeScript. */
export type ProcessControl = SpiOf<typeof processInterface>;

/** The plugin name under which the process of a nonce is controlled. */
export const processPlugin = (nonce: string): string => `process-${nonce}`;

/** What a process is controlled by. */
export interface ControlledProcess {
  readonly status: () => ProcessStatus;
  /** Undefined when there is no such plugin; else resolves when it has stopped. */
  readonly stopPlugin: (name: string) => Promise<void> | undefined;
  /** Begins to end the process, soon enough after the call for it to be answered. */
  readonly stopSoon: () => void;
}

/** The object that a process is controlled by. */
export const processObject = ({ status, stopPlugin, stopSoon }: ControlledProcess): PluginObject =>
  pluginObject({
    object: '',
    description: processInterface,
    implementation: {
      describe: async () => status(),
      stopPlugin: async ({ name }) => {
        const stopped = stopPlugin(name);
        if (stopped === undefined) {
          throw new AppError('PLUGIN_UNKNOWN', `process ${status().pid} runs no plugin named ${name}`, {
            facts: { plugin: name },
          });
        }
        await stopped;
        if (status().plugins.length === 0) stopSoon();
        return {};
      },
      stop: async () => {
        stopSoon();
        return {};
      },
    },
  });
