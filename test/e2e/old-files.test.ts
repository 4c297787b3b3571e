import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { follows, hasMembers, startStack } from './stack.ts';

/** Spec files of the old system and the hashes that it gave, where they are beside the checkout; none is part of it. */
const folder = fileURLToPath(new URL('../../../shared/cases/', import.meta.url));
const program = fileURLToPath(new URL('../../packages/cli/bin/infrakit.js', import.meta.url));
const configHash = 'infrakit.config.hash';

test.runIf(existsSync(`${folder}e2e/miners.yml`))(
  'the spec files of the old demo are committed as they are; members have the config hashes it gave (issue 5)',
  async () => {
    await using stack = await startStack();
    const { home, operator } = stack;
    const infrakit = (...args: string[]) =>
      promisify(execFile)(process.execPath, [program, 'local', ...args], {
        cwd: `${folder}e2e`,
        env: { ...process.env, INFRAKIT_HOME: home },
      });
    await infrakit('mystack/groups', 'commit', '-y', 'miners.yml');
    const { stdout } = await infrakit('mystack/groups', 'commit-group', 'cattle.json');
    expect(stdout).toBe('Committed cattle: Managing 10 instances\n');
    await infrakit('mystack/nfs', 'commit', '-y', 'enrollment.yml');
    await hasMembers(operator, 'miners', 5);
    const cattle = await follows(operator, 10);
    const entries = await operator.instances('nfs-auth/disk');
    expect(entries.map(({ Properties }) => Properties)).toEqual(
      expect.arrayContaining(cattle.map((host) => ({ host, iops: 10 }))),
    );
    const readme = await readFile(`${folder}README.md`, 'utf8');
    for (const [group, file] of [
      ['miners', 'miners.yml'],
      ['cattle', 'cattle.json'],
    ] as const) {
      const hash = new RegExp(`\`${file}\` →\\s*\`(\\w+)\``).exec(readme)?.[1];
      const members = await operator.instances('simulator/compute', { 'infrakit.group': group });
      expect(new Set(members.map(({ Tags }) => Tags?.[configHash]))).toEqual(new Set([hash]));
    }
  },
  60_000,
);
