import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../../../test/e2e/operator.ts';
import { cattleNfs } from '../../../test/e2e/specs.ts';
import { follows, mainJob, type Stack, startStack } from '../../../test/e2e/stack.ts';
import { runProgram } from './program.ts';

/** Runs a command line on a stack to its end. */
const run = async ({ home }: Stack, ...args: readonly string[]) => {
  const written = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof written) => ({
    write: (text: string) => {
      written[name] += text;
    },
  });
  const exit = await runProgram(['local', ...args], {
    streams: { stdout: stream('stdout'), stderr: stream('stderr'), stdin: async () => '' },
    env: { INFRAKIT_HOME: home },
    signal: new AbortController().signal,
  });
  return { exit, ...written };
};

test('EI §2.1 row Commit(Destroy): destroy --wait of an enrollment says how many entries it left and why, or takes them all', async () => {
  await using stack = await startStack();
  const { operator } = stack;
  await mainJob(operator);
  const rule = ['mystack/nfs/cattle-nfs', 'destroy', '--wait'];
  expect(await run(stack, ...rule)).toMatchObject({
    exit: 0,
    stdout: 'Destroyed cattle-nfs\n',
    stderr: expect.stringContaining(
      'cattle-nfs: 10 entries stay in nfs-auth/disk, since DestroyOnTerminate is not set\n',
    ),
  });
  expect(await operator.instances('nfs-auth/disk')).toHaveLength(10);

  await operator.commit(cattleNfs({ DestroyOnTerminate: true }));
  await follows(operator, 10);
  const emptied = await run(stack, ...rule);
  expect(await operator.instances('nfs-auth/disk')).toEqual([]);
  expect(emptied).toMatchObject({ exit: 0, stdout: 'Destroyed cattle-nfs\n' });
  expect(emptied.stderr).not.toContain('stay');

  await operator.commit(cattleNfs());
  await follows(operator, 10);
  const file = join(stack.home, 'cattle-nfs.json');
  await writeFile(file, JSON.stringify({ kind: 'enrollment', metadata: { name: 'cattle-nfs' }, properties: {} }));
  expect(await run(stack, 'mystack/nfs', 'commit', '--destroy-all', '-c', file)).toMatchObject({
    exit: 0,
    stdout: 'Destroyed cattle-nfs\n',
    stderr: 'cattle-nfs: 10 entries stay in nfs-auth/disk, since DestroyOnTerminate is not set\n',
  });
}, 60_000);

test('Law 2: after destroy --wait of a group its members are gone, and everything downstream of them goes', async () => {
  await using stack = await startStack();
  const { operator } = stack;
  await mainJob(operator);
  expect(await run(stack, 'mystack/cattle', 'destroy', '--wait')).toMatchObject({ exit: 0 });
  const compute = await operator.instances('simulator/compute');
  expect(compute.filter(({ Tags }) => Tags?.['infrakit.group'] === 'cattle')).toEqual([]);
  expect(compute).toHaveLength(5);
  await eventually('no authorisations', 5_000, async () =>
    (await operator.instances('nfs-auth/disk')).length === 0 ? true : undefined,
  );
}, 60_000);
