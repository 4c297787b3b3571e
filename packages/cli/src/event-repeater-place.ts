import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { shortSocketPath } from '@infrakit/bus';
import { AppError, encodeLevel } from '@infrakit/core';
import { homeOf } from '@infrakit/host';
import type { ListenFiles } from '@infrakit/repeater';
import type { CommandContext } from './command-context.ts';
import { usageError } from './exit.ts';

/** The name that the old program had for it (GP §6.3). */
export const defaultName = 'app-event-repeater';

/** Where an event repeater of a name listens and keeps its rules, below the home. */
export const placesOf = (env: CommandContext['env'], name: string): ListenFiles & { readonly rules: string } => {
  if (name === '' || name.includes('/'))
    throw usageError(`--name takes a name without "/", not ${JSON.stringify(name)}`);
  const home = homeOf(env, homedir());
  const file = encodeLevel(name);
  const socket = join(home, 'plugins', file);
  return {
    socket: shortSocketPath(socket),
    record: `${socket}.listen`,
    rules: join(home, 'event-repeater', file, 'rules'),
  };
};

const tokenVariable = 'INFRAKIT_EVENT_REPEATER_TOKEN';

/** The bearer token: by `--token file:PATH` or `env:NAME`, else by the environment; undefined for none. */
export const tokenOf = async (
  reference: string | undefined,
  env: CommandContext['env'],
): Promise<string | undefined> => {
  if (reference === undefined) return env[tokenVariable] || undefined;
  const [, kind, rest = ''] = /^(file|env):(.+)$/.exec(reference) ?? [];
  if (kind === undefined) throw usageError('--token takes file:PATH or env:NAME, never the token itself');
  if (kind === 'env') {
    const token = env[rest];
    if (token) return token;
    throw new AppError('ARGUMENT_INVALID', `--token: the variable ${rest} is not set`);
  }
  try {
    const token = (await readFile(rest, 'utf8')).trim();
    if (token !== '') return token;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new AppError('ARGUMENT_INVALID', `--token: ${why}`, { cause });
  }
  throw new AppError('ARGUMENT_INVALID', `--token: ${rest} is empty`);
};
