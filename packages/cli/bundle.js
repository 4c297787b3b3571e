import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const { version } = JSON.parse(readFileSync(path('package.json'), 'utf8'));

/** The commit that is built; a package without its history has none. */
const revision = () => {
  try {
    const options = { cwd: path('.'), encoding: 'utf8', stdio: 'pipe' };
    return execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], options).trim();
  } catch {
    return 'unknown';
  }
};

/** No module of ours does anything when it is loaded: what a command does not use is left out of its files. */
const pureModules = {
  name: 'pure-modules',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^@infrakit\/|^\.\.?\/.*\.ts$/ }, async ({ path, pluginData, ...from }) => {
      if (pluginData?.isAsked) return undefined;
      return { ...(await resolve(path, { ...from, pluginData: { isAsked: true } })), sideEffects: false };
    });
  },
};

/** What the quick start leaves to the second file is not part of the first. */
const restElsewhere = {
  name: 'rest-elsewhere',
  setup({ onResolve }) {
    onResolve({ filter: /\/process-program\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './process-program.js', external: true } : undefined,
    );
  },
};

const shared = {
  outdir: path('dist/bundle'),
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  conditions: ['@infrakit/source'],
  minify: true,
  legalComments: 'eof',
  define: { BUILD_VERSION: JSON.stringify(version), BUILD_REVISION: JSON.stringify(revision()) },
  // CommonJS packages that are bundled call `require` for what Node has built in, and may ask for the name of their file.
  banner: {
    js: [
      "import { createRequire as nodeRequire } from 'node:module';",
      "import { fileURLToPath as nodePath } from 'node:url';",
      'const require = nodeRequire(import.meta.url), __filename = nodePath(import.meta.url);',
    ].join(' '),
  },
  // A native addon cannot be part of a file, nor what has one below it.
  external: ['classic-level', 'dockerode'],
  logLevel: 'warning',
};

rmSync(shared.outdir, { recursive: true, force: true });
// Apart from each other: files that both need would be shared with all that the second one loads.
await build({
  ...shared,
  entryPoints: [path('src/main.ts')],
  plugins: [restElsewhere, pureModules],
  // What Node has built in need not be loaded a second time.
  alias: { 'readable-stream': 'node:stream' },
});
await build({ ...shared, entryPoints: [path('src/process-program.ts')], plugins: [pureModules], splitting: true });
