import { type RunOptions, runHost } from '@infrakit/host';
import { z } from 'zod';
import type { CommandContext } from './command-context.ts';
import { hostLogLevel } from './log.ts';
import { readAs } from './read-spec.ts';
import { version } from './version.ts';

const StartOptions = z.record(z.string(), z.record(z.string(), z.unknown()));

/** Reads a file of start options by plugin name; what they mean is for each plugin to say. */
export const readStartOptions = (
  file: string,
  context: CommandContext,
): Promise<NonNullable<RunOptions['pluginOptions']>> => readAs(file, StartOptions, { var: [] }, context);

/** Runs plugins, each with the options given for its name, in this process until it is told to stop (GP §4.4). */
export const startPlugins = (
  plugins: readonly string[],
  { streams, env, logLevel }: CommandContext,
  pluginOptions: NonNullable<RunOptions['pluginOptions']> = {},
): Promise<number> => {
  const level = logLevel === undefined ? {} : { INFRAKIT_LOG_LEVEL: hostLogLevel(logLevel) };
  return runHost(plugins, { ...env, ...level }, { version: version(), output: streams, pluginOptions });
};
