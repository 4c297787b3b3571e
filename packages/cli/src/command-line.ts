import { Command, CommanderError } from 'commander';
import type { Streams } from './command-context.ts';
import { exits } from './exit.ts';

/** The grammar of one command: errors are one sentence on stderr, help goes to stdout and ends with an example. */
export const commandLine = (
  name: string,
  { summary, example }: { readonly summary: string; readonly example: string },
  { stdout, stderr }: Streams,
): Command =>
  new Command(name)
    .description(summary)
    .addHelpText('after', `\nExample:\n  ${example}`)
    .helpOption('-h, --help', 'print this help')
    .exitOverride()
    .allowExcessArguments(false)
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      outputError: (text, write) => write(`infrakit: ${text.replace(/^error: /, '').replace(/\n(?=.)/g, ' ')}`),
    });

/** Parses words and runs what they ask for; gives the exit code of what was printed while parsing, or of `run`. */
export const runCommandLine = async (
  command: Command,
  words: readonly string[],
  run: () => Promise<number>,
): Promise<number> => {
  let exit: number = exits.done;
  command.action(async () => {
    exit = await run();
  });
  try {
    await command.parseAsync(words, { from: 'user' });
    return exit;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? exits.done : exits.usage;
  }
};
