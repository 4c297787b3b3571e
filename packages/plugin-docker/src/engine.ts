import { readFile } from 'node:fs/promises';
import { AppError } from '@infrakit/core';
import { type CallContext, whenAborted } from '@infrakit/spi';
import Docker from 'dockerode';

/** Where the engine is. */
export interface EngineAddress {
  /** `unix:///var/run/docker.sock`, `tcp://host:2376`. */
  readonly host: string;
  readonly tls?:
    | { readonly ca?: string | undefined; readonly cert?: string | undefined; readonly key?: string | undefined }
    | undefined;
}

/** A client of the engine at an address. `ARGUMENT_INVALID` when it is none. */
export const openEngine = async ({ host, tls }: EngineAddress): Promise<Docker> => {
  const version = 'v1.41';
  if (host.startsWith('unix://')) return new Docker({ socketPath: host.slice('unix://'.length), version });
  if (!URL.canParse(host) || !/^(tcp|https?):/.test(host)) {
    throw new AppError('ARGUMENT_INVALID', `Host is unix://<path> or tcp://<host>:<port>, not ${JSON.stringify(host)}`);
  }
  const { hostname, port } = new URL(host.replace(/^tcp:/, 'http:'));
  const files = await Promise.all(
    [tls?.ca, tls?.cert, tls?.key].map(async (path) => (path === undefined ? undefined : readFile(path))),
  );
  const [ca, cert, key] = files;
  const isTls = tls !== undefined || host.startsWith('https:');
  return new Docker({
    host: hostname,
    port: Number(port) || (isTls ? 2376 : 2375),
    protocol: isTls ? 'https' : 'http',
    ca,
    cert,
    key,
    version,
  });
};

const statusOf = (error: unknown): number | undefined =>
  typeof error === 'object' && error !== null && 'statusCode' in error ? Number(error.statusCode) : undefined;

const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const reason = (error as { json?: { message?: string } }).json?.message;
  return (reason ?? error.message).split('\n')[0] ?? error.message;
};

/** Whether the engine says that there is no such thing. */
export const isMissing = (error: unknown): boolean => statusOf(error) === 404;

/** An error of the engine in our words: one that it answered, or that it is away. */
export const engineError = (what: string, error: unknown): AppError => {
  if (error instanceof AppError) return error;
  const code = statusOf(error) === undefined ? 'PLUGIN_UNAVAILABLE' : 'INSTANCE_FAILED';
  const front = code === 'PLUGIN_UNAVAILABLE' ? `the container engine is away: ${what}` : what;
  return new AppError(code, `${front}: ${messageOf(error)}`, { cause: error });
};

/** A call of the engine that is given up when the caller gives up; what the engine does then is looked at later. */
export const bounded = <T>(ctx: CallContext, what: string, call: () => Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const cancelled = (): AppError =>
      new AppError('RPC_CANCELLED', `${what}: the caller gave up`, { cause: ctx.signal.reason });
    if (ctx.signal.aborted) {
      reject(cancelled());
      return;
    }
    const forget = whenAborted(ctx.signal, () => reject(cancelled()));
    call()
      .then(resolve, (error: unknown) => reject(engineError(what, error)))
      .finally(forget);
  });
