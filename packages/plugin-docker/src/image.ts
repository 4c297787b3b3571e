import { readFile } from 'node:fs/promises';
import { AppError } from '@infrakit/core';
import { type CallContext, type Log, whenAborted } from '@infrakit/spi';
import type Docker from 'dockerode';
import type { AuthConfig } from 'dockerode';
import type { ContainerProperties } from './container-properties.ts';
import { isMissing } from './engine.ts';
import { jsonLines } from './json-lines.ts';

/** What images are got with. */
export interface ImageDeps {
  readonly engine: Docker;
  /** A variable of the environment that a reference names. */
  readonly variable: (name: string) => string | undefined;
  readonly log: Log;
}

/** The secret that a reference `file:<path>` or `env:<name>` stands for; no text of an error holds it. */
const secretOf = async (reference: string, variable: ImageDeps['variable']): Promise<string> => {
  const name = reference.slice(reference.indexOf(':') + 1);
  if (reference.startsWith('env:')) {
    const value = variable(name);
    if (value !== undefined) return value;
    throw new AppError('INSTANCE_FAILED', `the variable ${name}, which holds the password of a registry, is not set`);
  }
  try {
    return (await readFile(name, 'utf8')).trim();
  } catch (cause) {
    throw new AppError('INSTANCE_FAILED', `the password of a registry cannot be read from ${name}`, { cause });
  }
};

/** What a registry is told about who asks; undefined for anybody. */
const authconfigOf = async (
  { Registry }: Pick<ContainerProperties, 'Registry'>,
  variable: ImageDeps['variable'],
): Promise<AuthConfig | undefined> =>
  Registry === undefined
    ? undefined
    : {
        username: Registry.Username,
        password: await secretOf(Registry.Password, variable),
        serveraddress: Registry.Server ?? '',
      };

/** Pulls an image; each new word about a layer goes to the caller and to the log. */
const pull = async (properties: ContainerProperties, { engine, variable, log }: ImageDeps, ctx: CallContext) => {
  const { Image: image } = properties;
  const authconfig = await authconfigOf(properties, variable);
  const stream = await engine.pull(image, { abortSignal: ctx.signal, ...(authconfig !== undefined && { authconfig }) });
  const forget = whenAborted(ctx.signal, () => 'destroy' in stream && (stream as { destroy(): void }).destroy());
  const said = new Map<string, string>();
  try {
    for await (const { status, id, error } of jsonLines(stream)) {
      // An engine answers 200 before it knows: that it failed is one of the lines.
      if (error !== undefined) throw new AppError('INSTANCE_FAILED', `${image} was not pulled: ${String(error)}`);
      const layer = String(id ?? '');
      const word = String(status ?? '');
      if (word === '') continue;
      ctx.progress?.({ message: `${image}: ${layer} ${word}`.replaceAll(/\s+/g, ' ') });
      if (said.get(layer) === word) continue;
      said.set(layer, word);
      log.info({ image, layer, status: word }, 'an image is being pulled');
    }
  } finally {
    forget();
  }
};

const isThere = (engine: Docker, image: string, signal: AbortSignal): Promise<boolean> => {
  // The client takes it; its types do not say so.
  const asked: object = { abortSignal: signal };
  return engine
    .getImage(image)
    .inspect(asked)
    .then(
      () => true,
      (error: unknown) => {
        if (isMissing(error)) return false;
        throw error;
      },
    );
};

/**
 * Sees to it that the image is there, as the pull policy says. `INSTANCE_FAILED` when it may not be pulled, cannot be, or its
 * registry's password is not where the reference says.
 */
export const ensureImage = async (
  properties: ContainerProperties,
  deps: ImageDeps,
  ctx: CallContext,
): Promise<void> => {
  const { Image: image, PullPolicy } = properties;
  if (PullPolicy !== 'always' && (await isThere(deps.engine, image, ctx.signal))) return;
  if (PullPolicy === 'never') {
    throw new AppError('INSTANCE_FAILED', `there is no image ${image}, and PullPolicy is never`);
  }
  await pull(properties, deps, ctx);
};
