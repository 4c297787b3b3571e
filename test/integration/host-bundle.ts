import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const child = fileURLToPath(new URL('./host-child.ts', import.meta.url));
/** Below the workspace's modules, so that other people's packages are found from there. */
const cache = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url));

/** A host that starts as fast as an installed one, made of the present sources. */
export interface HostBundle extends AsyncDisposable {
  readonly program: string;
}

/** Bundles `host-child.ts` with the sources of our packages; each plugin stays a file of its own, loaded when it is started. */
export const bundleHost = async (): Promise<HostBundle> => {
  await mkdir(cache, { recursive: true });
  const outdir = await mkdtemp(join(cache, 'infrakit-host-'));
  await build({
    entryPoints: [child],
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    conditions: ['@infrakit/source'],
    logLevel: 'error',
    plugins: [
      {
        name: 'only-our-packages',
        setup: ({ onResolve }) => {
          onResolve({ filter: /^[^./]/ }, ({ path }) =>
            path.startsWith('@infrakit/') ? undefined : { external: true },
          );
        },
      },
    ],
  });
  return {
    program: join(outdir, 'host-child.mjs'),
    [Symbol.asyncDispose]: () => rm(outdir, { recursive: true, force: true }),
  };
};
