import { systemClock } from '@infrakit/runtime';
import { instanceInterface, type PluginDefinition, pluginObject } from '@infrakit/spi';
import { openExecInstance } from './exec-instance.ts';
import { ExecOptions, execEnvironment } from './exec-options.ts';

/** How long a stop waits for programs that run; less than a host gives it. */
const patienceMs = 3_000;

/** A program of anybody's as instances: `<name>/instance`, by the protocol of this package's README. */
export const execDefinition: PluginDefinition<typeof ExecOptions> = {
  kind: 'exec',
  summary: 'any program as an instance plugin',
  isSingle: false,
  options: ExecOptions,
  environment: execEnvironment,
  start: async ({ options, log, journal, variable, stateDir }) => {
    const { instance, close } = await openExecInstance(options, {
      after: systemClock.after,
      log,
      journal,
      variable,
      stateDir: await stateDir(),
    });
    const objects = [pluginObject({ object: 'instance', description: instanceInterface, implementation: instance })];
    return { objects: () => objects, stop: () => close(patienceMs) };
  },
};
