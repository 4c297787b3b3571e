import type { RunCommand } from '../command-context.ts';
import { commandLine, runCommandLine } from '../command-line.ts';
import { exits } from '../exit.ts';
import { revision, version } from '../version.ts';

/** `infrakit version` (GP §5.3). */
const runVersion: RunCommand = (words, { streams }) =>
  runCommandLine(
    commandLine('infrakit version', { summary: 'print version and revision', example: 'infrakit version' }, streams),
    words,
    async () => {
      streams.stdout.write(`Version: ${version()}\nRevision: ${revision()}\n`);
      return exits.done;
    },
  );

export default runVersion;
