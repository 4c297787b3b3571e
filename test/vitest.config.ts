import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// Without `import`: vitest passes these on to Node, which would then give ES modules to packages that `require`.
const conditions = ['@infrakit/source', 'node'];

/** Where `.ci/run` wants the JSON report that it counts. */
const report = process.env.INFRAKIT_TEST_REPORT;

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    reporters: report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
    // What waits for something says so earlier; this is for what hangs, on a machine that may be busy.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // Most of them wait for real programs more than they work.
    maxWorkers: 3,
    expect: { poll: { timeout: 10_000 } },
  },
});
