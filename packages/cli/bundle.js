import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** A command line starts as fast as it loads: one file for what each command needs, and only that. */
const here = fileURLToPath(new URL('.', import.meta.url));
const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));

/** The commit that is built; a package without its history has none. */
const revision = () => {
  try {
    return execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], {
      cwd: here,
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim();
  } catch {
    return 'unknown';
  }
};

/** No module of ours does anything when it is loaded: what a command does not use is left out of its files. */
const pureModules = {
  name: 'pure-modules',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^@infrakit\// }, async ({ path, pluginData, ...from }) => {
      if (pluginData?.isAsked) return undefined;
      const found = await resolve(path, { ...from, pluginData: { isAsked: true } });
      return { ...found, sideEffects: false };
    });
    onResolve({ filter: /^\.\.?\/.*\.ts$/ }, async ({ path, pluginData, ...from }) => {
      if (pluginData?.isAsked) return undefined;
      const found = await resolve(path, { ...from, pluginData: { isAsked: true } });
      return { ...found, sideEffects: false };
    });
  },
};

const outdir = fileURLToPath(new URL('dist/bundle/', import.meta.url));
rmSync(outdir, { recursive: true, force: true });
const result = await build({
  entryPoints: { main: fileURLToPath(new URL('src/main.ts', import.meta.url)) },
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  conditions: ['@infrakit/source'],
  minify: true,
  keepNames: false,
  legalComments: 'eof',
  metafile: process.env.METAFILE !== undefined,
  define: { BUILD_VERSION: JSON.stringify(version), BUILD_REVISION: JSON.stringify(revision()) },
  // CommonJS packages that are bundled call `require` for what Node has built in, and may ask for the name of their file.
  banner: {
    js: [
      "import { createRequire as nodeRequire } from 'node:module';",
      "import { fileURLToPath as nodePath } from 'node:url';",
      'const require = nodeRequire(import.meta.url), __filename = nodePath(import.meta.url);',
    ].join(' '),
  },
  // A native addon cannot be part of a file.
  external: ['classic-level'],
  plugins: [pureModules],
  logLevel: 'warning',
});
if (process.env.METAFILE !== undefined)
  (await import('node:fs')).writeFileSync(process.env.METAFILE, JSON.stringify(result.metafile));
