import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { checkArchitecture } from './architecture/check.ts';
import { readTree, type Tree } from './architecture/tree.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

test('DESIGN §2: this repository keeps the rules of its packages', () => {
  expect(checkArchitecture(readTree(root))).toEqual([]);
});

const manifest = (name: string, dependencies: readonly string[] = []): string =>
  JSON.stringify({ name, dependencies: Object.fromEntries(dependencies.map((dependency) => [dependency, '1.0.0'])) });
const references = (...paths: readonly string[]): string =>
  JSON.stringify({ references: paths.map((path) => ({ path })) });

const good: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify({ devDependencies: { vitest: '1.0.0' } }),
  'tsconfig.json': references('packages/core', 'packages/spi', 'packages/group', 'packages/cli', 'test'),
  'packages/core/package.json': manifest('@infrakit/core', ['zod']),
  'packages/core/tsconfig.json': references(),
  'packages/core/src/index.ts': "export * from './digest.ts';\n",
  'packages/core/src/digest.ts': [
    "import { createHash } from 'node:crypto';",
    "import { z } from 'zod';",
    '// Date.now() in a comment, setTimeout and process.env too',
    'const text = "process.env import(\'rxjs\')" + `new Date() ${text} Math.random()`;',
    'const pattern = /console.log("[/]/.exec(row.process.id);',
    'const when = new Date(iso); const at = z.object({ process: z.string(), console: 1 });',
    '',
  ].join('\n'),
  'packages/core/src/digest.test.ts':
    "import { test } from 'vitest';\nimport { readFileSync } from 'node:fs';\nsetTimeout(f, 1);\n",
  'packages/spi/package.json': manifest('@infrakit/spi', ['@infrakit/core']),
  'packages/spi/tsconfig.json': references('../core'),
  'packages/spi/src/index.ts': "import type { Tags } from '@infrakit/core';\n",
  'packages/spi/src/store.test.ts': "import { contractTests } from '../../../test/contract.ts';\n",
  'test/contract.ts': "import type { Store } from '@infrakit/spi';\n",
  'packages/group/package.json': manifest('@infrakit/group', ['@infrakit/core', '@infrakit/spi', 'mqtt', 'pino']),
  'packages/group/tsconfig.json': references('../core', '../spi'),
  'packages/group/src/index.ts': "import type { Logger } from 'pino';\n",
  'packages/cli/package.json': manifest('infrakit'),
  'packages/cli/tsconfig.json': references(),
  'packages/cli/bin/infrakit.js': "console.log(process.argv, await import('../dist/main.js'));\n",
  'test/some.test.ts': "import { digest } from '@infrakit/core';\n",
};

const treeWith = (changes: Readonly<Record<string, string>>, topLevel: readonly string[] = []): Tree => ({
  topLevel: ['package.json', 'packages', '.gitignore', ...topLevel],
  files: new Map(Object.entries({ ...good, ...changes })),
});

/** What each bad file adds to the good tree, and the one problem that must be found. */
const breaches: readonly [rule: string, changes: Record<string, string>, problem: string][] = [
  [
    'core reads a file',
    { 'packages/core/src/a.ts': "\nimport { readFile } from 'node:fs/promises';\n" },
    "packages/core/src/a.ts:2: import { readFile } from 'node:fs/promises' (core is pure: of node:* only { createHash } of node:crypto)",
  ],
  [
    'core takes more than createHash',
    { 'packages/core/src/a.ts': "import { createHash, randomUUID } from 'node:crypto';\n" },
    "packages/core/src/a.ts:1: import { createHash, randomUUID } from 'node:crypto' (core is pure: of node:* only { createHash } of node:crypto)",
  ],
  [
    'core uses another package',
    {
      'packages/core/package.json': manifest('@infrakit/core', ['zod', 'rxjs']),
      'packages/core/src/a.ts': "import type { Observable } from 'rxjs';\n",
    },
    "packages/core/src/a.ts:1: import type { Observable } from 'rxjs' (core is pure: of other packages only zod)",
  ],
  [
    'the import spans lines and stands behind a comment with a quote',
    { 'packages/core/src/a.ts': "// it's\nimport {\n  a,\n  type B,\n} from 'node:os';\n" },
    "packages/core/src/a.ts:2: import { a, type B, } from 'node:os' (core is pure: of node:* only { createHash } of node:crypto)",
  ],
  [
    'a re-export counts',
    { 'packages/core/src/a.ts': "export * as os from 'node:os';\n" },
    "packages/core/src/a.ts:1: export * as os from 'node:os' (core is pure: of node:* only { createHash } of node:crypto)",
  ],
  [
    'import() inside a template counts',
    { 'packages/core/src/a.ts': "const a = `${await import('node:os')}`;\n" },
    "packages/core/src/a.ts:1: import('node:os' (core is pure: of node:* only { createHash } of node:crypto)",
  ],
  ...(
    [
      ['Date.now', 'core is pure: no clock: time is an argument'],
      ['new Date()', 'core is pure: no clock: time is an argument'],
      ['Math.random', 'core is pure: no random: ids are arguments'],
      ['setTimeout', 'core is pure: no timers'],
      ['process.', 'core is pure: no process'],
      ['fetch(', 'core is pure: no I/O'],
      ['console.', 'no default logger: take one as an argument'],
    ] as const
  ).map(([text, why]): [string, Record<string, string>, string] => [
    `core uses ${text}`,
    { 'packages/core/src/a.ts': `const f = () => ${text}${/[.]$/.test(text) ? 'pid' : ''};\n` },
    `packages/core/src/a.ts:1: ${text} (${why})`,
  ]),
  [
    'core uses globalThis.crypto',
    { 'packages/group/src/a.ts': '', 'packages/core/src/a.ts': 'const id = globalThis.crypto;\n' },
    'packages/core/src/a.ts:1: globalThis (core is pure: no globals)',
  ],
  [
    'an import against the direction',
    { 'packages/spi/src/a.ts': "import { group } from '@infrakit/group';\n" },
    "packages/spi/src/a.ts:1: import { group } from '@infrakit/group' (spi may import @infrakit/core)",
  ],
  [
    'a controller imports the bus, which is no dependency either',
    { 'packages/group/src/a.ts': "import { bus } from '@infrakit/bus';\n" },
    "packages/group/src/a.ts:1: import { bus } from '@infrakit/bus' (group may import @infrakit/core, @infrakit/template, @infrakit/document, @infrakit/spi, @infrakit/runtime)",
  ],
  [
    'a controller speaks MQTT by itself',
    { 'packages/group/src/a.ts': "import { connect } from 'mqtt';\n" },
    "packages/group/src/a.ts:1: import { connect } from 'mqtt' (group knows nothing of MQTT)",
  ],
  [
    'a dependency against the direction',
    {
      'packages/core/package.json': manifest('@infrakit/core', ['zod', '@infrakit/cli2', 'infrakit']),
      'packages/core/tsconfig.json': references('../cli'),
    },
    'packages/core/package.json: core may not depend on infrakit',
  ],
  [
    'a deep import',
    { 'packages/spi/src/a.ts': "import { a } from '@infrakit/core/src/digest.ts';\n" },
    "packages/spi/src/a.ts:1: import { a } from '@infrakit/core/src/digest.ts' (imports across packages use the root export, no deep paths)",
  ],
  [
    'a relative import into another package',
    { 'packages/spi/src/a.ts': "import { a } from '../../core/src/digest.ts';\n" },
    "packages/spi/src/a.ts:1: import { a } from '../../core/src/digest.ts' (a relative import stays inside its package)",
  ],
  [
    'a source uses what is for tests',
    { 'packages/spi/src/a.ts': "import { contractTests } from '../../../test/contract.ts';\n" },
    "packages/spi/src/a.ts:1: import { contractTests } from '../../../test/contract.ts' (a relative import stays inside its package)",
  ],
  [
    'a test reaches into a package',
    { 'test/a.ts': "import { a } from '../packages/core/src/digest.ts';\n" },
    "test/a.ts:1: import { a } from '../packages/core/src/digest.ts' (tests import packages by their names)",
  ],
  [
    'an undeclared package, a test runner in a source',
    { 'packages/spi/src/a.ts': "import { test } from 'vitest';\n" },
    "packages/spi/src/a.ts:1: import { test } from 'vitest' (vitest is not in the dependencies of packages/spi/package.json)",
  ],
  [
    'files import each other, types too',
    {
      'packages/spi/src/a.ts': "import type { B } from './b.ts';\n",
      'packages/spi/src/b.ts': "\nimport { a } from './a.ts';\n",
    },
    "packages/spi/src/b.ts:2: import { a } from './a.ts' (a cycle: packages/spi/src/a.ts → packages/spi/src/b.ts → packages/spi/src/a.ts)",
  ],
  [
    'argv outside cli and host/main',
    { 'packages/group/src/a.ts': 'const a = process.argv;\n' },
    'packages/group/src/a.ts:1: process.argv (only cli and host/main read argv and the environment)',
  ],
  [
    'the environment by destructuring',
    { 'packages/group/src/a.ts': 'const { env } = process;\n' },
    'packages/group/src/a.ts:1: { env } = process (only cli and host/main read argv and the environment)',
  ],
  [
    'the environment by import',
    { 'packages/group/src/a.ts': "import { env } from 'node:process';\n" },
    "packages/group/src/a.ts:1: import { env } from 'node:process' (only cli and host/main read argv and the environment)",
  ],
  [
    'a default logger',
    { 'packages/group/src/a.ts': "import { pino } from 'pino';\n" },
    "packages/group/src/a.ts:1: import { pino } from 'pino' (no default logger: take one as an argument, only cli and host/main construct it)",
  ],
  [
    'a computed import outside host',
    { 'packages/group/src/a.ts': 'const a = await import(name);\n' },
    'packages/group/src/a.ts:1: import(n (only host loads modules by a computed name)',
  ],
  [
    'a global variable',
    { 'packages/group/src/a.ts': 'export let count = 0;\n' },
    'packages/group/src/a.ts:1: export let count = 0; (no globals: state lives in closures)',
  ],
  [
    'a file of 401 lines',
    { 'packages/spi/src/a.ts': 'const a = 1;\n'.repeat(401) },
    'packages/spi/src/a.ts: 401 lines, at most 400',
  ],
  [
    'a dependency without a reference',
    { 'packages/spi/tsconfig.json': references() },
    'packages/spi/tsconfig.json: no reference to ../core, which package.json depends on',
  ],
  [
    'a reference without a dependency',
    { 'packages/spi/tsconfig.json': references('../core', '../group') },
    'packages/spi/tsconfig.json: a reference to ../group, which package.json does not depend on',
  ],
  [
    'a package that no build knows',
    { 'tsconfig.json': references('packages/core', 'packages/spi', 'packages/group', 'test') },
    'tsconfig.json: no reference to packages/cli',
  ],
  [
    'a package under another name',
    { 'packages/spi/package.json': manifest('spi', ['@infrakit/core']) },
    'packages/spi/package.json: its name must be @infrakit/spi',
  ],
  [
    'sources in no package',
    { 'packages/stray/src/a.ts': '' },
    'packages/stray/src/a.ts: in no package with a package.json and a rule',
  ],
];

describe('the checker finds each breach, and nothing else', () => {
  test('a good repository', () => {
    expect(checkArchitecture(treeWith({}))).toEqual([]);
  });

  test.each(breaches)('%s', (_rule, changes, problem) => {
    expect(checkArchitecture(treeWith(changes))).toEqual([problem]);
  });

  test('an unknown entry at the top level', () => {
    expect(checkArchitecture(treeWith({}, ['docs']))).toEqual(['docs: not expected at the top level']);
  });

  test('packages that depend on each other in a circle', () => {
    const changes = {
      'packages/core/package.json': manifest('@infrakit/core', ['zod', '@infrakit/spi']),
      'packages/core/tsconfig.json': references('../spi'),
    };
    expect(checkArchitecture(treeWith(changes))).toContain(
      'packages: a cycle @infrakit/core → @infrakit/spi → @infrakit/core',
    );
  });

  test('a package that no rule knows', () => {
    const changes = {
      'packages/utils/package.json': manifest('@infrakit/utils'),
      'tsconfig.json': references(
        'packages/core',
        'packages/spi',
        'packages/group',
        'packages/utils',
        'packages/cli',
        'test',
      ),
    };
    expect(checkArchitecture(treeWith(changes))).toEqual([
      'packages/utils: unknown package, give it a row in test/architecture/packages.ts',
    ]);
  });
});
