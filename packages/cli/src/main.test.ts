import { describe, expect, test } from 'vitest';
import { main } from './main.ts';

/** Runs a command line and gives its exit code and all that it wrote. */
const run = async (...args: readonly string[]) => {
  const written = { stdout: '', stderr: '' };
  const sink = (name: keyof typeof written) => ({
    write: (text: string) => {
      written[name] += text;
    },
  });
  const exit = await main(args, { stdout: sink('stdout'), stderr: sink('stderr') });
  return { exit, ...written };
};

describe('DESIGN §6: exit codes and streams of the command line', () => {
  test.each([['version'], ['--version'], ['-V']])('%s prints the version', async (word) => {
    expect(await run(word)).toEqual({ exit: 0, stdout: 'infrakit 0.1.0\n', stderr: '' });
  });

  test.each([['-h'], ['--help'], ['help']])('%s prints the verbs on stdout', async (word) => {
    const { exit, stdout, stderr } = await run(word);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(stdout).toMatch(/^Usage: infrakit \[options\] <verb>\n/);
    expect(stdout).toMatch(/\nVerbs:\n {2}version +print the version\n/);
  });

  test('no verb is wrong usage: the help goes to stderr', async () => {
    const { exit, stdout, stderr } = await run();
    expect({ exit, stdout }).toEqual({ exit: 64, stdout: '' });
    expect(stderr).toContain('Usage: infrakit');
  });

  test.each([
    [['verison'], 'infrakit: unknown verb `verison`; `infrakit --help` lists the verbs\n'],
    [['local', 'group', 'describe'], 'infrakit: unknown verb `local`; `infrakit --help` lists the verbs\n'],
    [['--nope'], "infrakit: unknown option '--nope'\n"],
    [['version', '--nope'], "infrakit: unknown option '--nope'\n"],
    [['version', 'extra'], "infrakit: too many arguments for 'version'. Expected 0 arguments but got 1.\n"],
  ])('%j is wrong usage: one sentence, exit 64', async (args, sentence) => {
    expect(await run(...args)).toEqual({ exit: 64, stdout: '', stderr: sentence });
  });
});
