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

/**
 * Runs the command line of a process and gives its exit code. The first Ctrl-C ends what is under way, the second the process.
 */
export const runProcess = async (process: NodeJS.Process): Promise<number> => {
  const { stdout, stderr, stdin, env, argv } = process;
  const stopping = new AbortController();
  process.once('SIGINT', () => stopping.abort());
  return runProgram(argv.slice(2), {
    streams: { stdout, stderr, stdin: () => readAll(stdin, stopping.signal) },
    env,
    signal: stopping.signal,
  });
};
