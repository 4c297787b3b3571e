import { addAbortSignal } from 'node:stream';
import { AppError } from '@infrakit/core';
import { runProgram } from './program.ts';

const readAll = async (stdin: NodeJS.ReadStream, signal: AbortSignal): Promise<string> => {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of addAbortSignal(signal, stdin)) chunks.push(Buffer.from(chunk));
  } catch (cause) {
    if (signal.aborted) throw new AppError('RPC_CANCELLED', 'reading standard input was cancelled', { cause });
    throw cause;
  }
  return Buffer.concat(chunks).toString('utf8');
};

const flushed = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    if (stream.destroyed || stream.writableLength === 0) resolve();
    else stream.write('', () => resolve());
  });

/**
 * Runs the command line of a process and ends the process with its exit code. The first Ctrl-C ends what is under way, the
 * second the process. A reader that goes away (`| head`) ends it without a word.
 */
export const main = async (process: NodeJS.Process): Promise<void> => {
  const { stdout, stderr, stdin, env, argv } = process;
  const stopping = new AbortController();
  process.once('SIGINT', () => stopping.abort());
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      process.exit(error.code === 'EPIPE' ? 0 : 1);
    });
  }
  const code = await runProgram(argv.slice(2), {
    streams: { stdout, stderr, stdin: () => readAll(stdin, stopping.signal) },
    env,
    signal: stopping.signal,
  });
  await Promise.all([flushed(stdout), flushed(stderr)]);
  process.exit(code);
};
