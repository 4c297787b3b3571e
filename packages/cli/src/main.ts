import { CommanderError } from 'commander';
import { type Output, program } from './program.ts';

/** Wrong usage of the command line (DESIGN §6). */
const wrongUsage = 64;

/**
 * Runs one command line and gives its exit code: 0 done, 64 wrong usage (DESIGN §6). Answers go to `stdout`, everything else to
 * `stderr`; nothing else of the process is touched.
 */
export const main = async (args: readonly string[], output: Output): Promise<number> => {
  try {
    await program(output).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : wrongUsage;
  }
};
