import { AppError, toAppError } from '@infrakit/core';
import type { Log, PluginDefinition } from '@infrakit/spi';
import { z } from 'zod';
import type { Environment } from './settings.ts';

type Options = Readonly<Record<string, unknown>>;

const reasonOf = (thrown: unknown): string =>
  thrown instanceof z.ZodError ? thrown.issues.map(({ message }) => message).join('; ') : toAppError(thrown).message;

/** The faults that a schema finds in the given fields, whatever it says of others that are missing. */
const faultsOf = (schema: z.ZodType, given: Options): string[] => {
  const { error } = schema.safeParse(given);
  const names = new Set<PropertyKey>(Object.keys(given));
  return (error?.issues ?? [])
    .filter(({ path: [field] }) => field === undefined || names.has(field))
    .map(({ message }) => message);
};

const fromEnvironment = ({ environment = {}, options }: PluginDefinition, env: Environment, log: Log): Options => {
  let merged: Options = {};
  for (const [variable, read] of Object.entries(environment)) {
    const text = env[variable];
    if (text === undefined) continue;
    try {
      const given = { ...(read(text) as Options) };
      const faults = faultsOf(options, given);
      if (faults.length > 0) throw new AppError('ARGUMENT_INVALID', faults.join('; '));
      merged = { ...merged, ...given };
    } catch (thrown) {
      log.warn(
        { variable, reason: reasonOf(thrown) },
        'the value of an environment variable cannot be used and is left out',
      );
    }
  }
  return merged;
};

/**
 * The options a plugin is started with: what is given, before what the environment says, before defaults. An unusable
 * value of the environment is told and left out (EI-E23). Errors: `ARGUMENT_INVALID` for given ones.
 */
export const pluginOptions = (
  definition: PluginDefinition,
  sources: { readonly given?: Options; readonly env: Environment },
  log: Log,
): unknown => {
  const parsed = definition.options.safeParse({ ...fromEnvironment(definition, sources.env, log), ...sources.given });
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new AppError('ARGUMENT_INVALID', `the options of ${definition.kind} cannot be used: ${faults.join('; ')}`, {
    facts: { kind: definition.kind },
  });
};
