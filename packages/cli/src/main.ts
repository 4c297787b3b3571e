import { quickList } from './quick-list.ts';

const flushed = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    if (stream.destroyed || stream.writableLength === 0) resolve();
    else stream.write('', () => resolve());
  });

/**
 * Runs the command line of a process and ends the process with its exit code. What most commands need is loaded only when the
 * command is none of the quick lists. A reader that goes away (`| head`) ends it without a word.
 */
export const main = async (process: NodeJS.Process): Promise<void> => {
  const { stdout, stderr, argv, env } = process;
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  }
  let code = 0;
  const lines = await quickList(argv.slice(2), env);
  if (lines === undefined) code = await (await import('./process-program.ts')).runProcess(process);
  else if (lines.length > 0) stdout.write(`${lines.join('\n')}\n`);
  await Promise.all([flushed(stdout), flushed(stderr)]);
  process.exit(code);
};
