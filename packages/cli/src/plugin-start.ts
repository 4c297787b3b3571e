import { type RunOptions, runHost } from '@infrakit/host';
import type { CommandContext } from './command-context.ts';
import { hostLogLevel } from './log.ts';
import { version } from './version.ts';

/** Runs plugins, each with the options given for its name, in this process until it is told to stop (GP §4.4). */
export const startPlugins = (
  plugins: readonly string[],
  { streams, env, logLevel }: CommandContext,
  pluginOptions: NonNullable<RunOptions['pluginOptions']> = {},
): Promise<number> => {
  const level = logLevel === undefined ? {} : { INFRAKIT_LOG_LEVEL: hostLogLevel(logLevel) };
  return runHost(plugins, { ...env, ...level }, { version: version(), output: streams, pluginOptions });
};
