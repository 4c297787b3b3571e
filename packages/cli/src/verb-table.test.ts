import { expect, test } from 'vitest';
import { commandLine, runCommandLine } from './command-line.ts';
import type { BusObject } from './objects.ts';
import { exampleOf, verbsOf } from './verb-table.ts';

const interfaces = [['Controller', 'Group'], ['Controller'], ['Instance'], ['L4'], ['Metadata'], ['Event'], ['Group']];

/** The object of all rules, and that of one, which takes no name. */
const objectsAt = (names: readonly string[]): BusObject[] => {
  const versions = new Map(names.map((name) => [name, '1.0.0']));
  const all = { name: 'mystack/nfs', plugin: 'mystack', object: 'nfs', proxyFor: 'nfs', interfaces: versions };
  return [all, { ...all, name: 'mystack/nfs/web', object: 'nfs/web', proxyFor: 'nfs/web' }];
};

const verbs = interfaces
  .flatMap(objectsAt)
  .flatMap((object) => verbsOf(object).map((entry) => ({ object, entry, example: exampleOf(object, entry) })));

test.each(verbs)('issue 5: -h shows $example, which is right usage', async ({ object, entry, example }) => {
  const written = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof written) => ({
    write: (text: string) => {
      written[name] += text;
    },
  });
  const streams = { stdout: stream('stdout'), stderr: stream('stderr'), stdin: async () => '' };
  const command = async () => {
    const made = commandLine(`infrakit local ${object.name} ${entry.name}`, { ...entry, example }, streams);
    const { default: verb } = await entry.load();
    verb.define(made, object);
    return made;
  };
  expect(await runCommandLine(await command(), ['-h'], async () => 1)).toBe(0);
  expect(written.stdout).toContain(`\nExample:\n  ${example}\n`);
  const prefix = `infrakit local ${object.name} ${entry.name}`;
  expect(example.startsWith(prefix)).toBe(true);
  const words = example.slice(prefix.length).split(/ (?=(?:[^']*'[^']*')*[^']*$)/);
  let isRun = false;
  const run = async () => {
    isRun = true;
    return 0;
  };
  const given = words.filter((word) => word !== '');
  expect({ exit: await runCommandLine(await command(), given, run), stderr: written.stderr }).toEqual({
    exit: 0,
    stderr: '',
  });
  expect(isRun).toBe(true);
});
