import { execFile } from 'node:child_process';
import { AppError } from '@infrakit/core';

/** What `exportfs` did with the files: what it said, and the exports that are now in the table. */
export interface Applied {
  readonly complaints: readonly string[];
  /** `<path> <client>` of each export, as `exportfs -s` lists them. */
  readonly exported: ReadonlySet<string>;
}

/** The program `exportfs`. Its caller runs it once at a time. */
export interface Exportfs {
  /** Makes the table equal to the files and reads it back. `INSTANCE_FAILED` when the program cannot be run. */
  readonly apply: () => Promise<Applied>;
  /** Reads the table. */
  readonly list: () => Promise<ReadonlySet<string>>;
}

const timeoutMs = 30_000;

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What exportfs says when it cannot lock, read or write its table; it may end with exit code 0 and list nothing. */
const aboutTable = /\betab\b/;

const run = (command: readonly string[], args: readonly string[]): Promise<Run> =>
  new Promise((resolve, reject) => {
    const [program = 'exportfs', ...before] = command;
    execFile(
      program,
      [...before, ...args],
      { timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        // A complaint about one line is exit code 1 and still a run; no exit code at all is none.
        if (error !== null && typeof error.code !== 'number') {
          const why = error.killed === true ? `it did not end within ${timeoutMs} ms` : error.message;
          reject(new AppError('INSTANCE_FAILED', `${program} cannot be run: ${why}`, { cause: error }));
          return;
        }
        const trouble = stderr.split('\n').find((line) => aboutTable.test(line));
        if (trouble === undefined) resolve({ code: Number(error?.code ?? 0), stdout, stderr });
        else reject(new AppError('INSTANCE_FAILED', `the table of exports cannot be used: ${trouble.trim()}`));
      },
    );
  });

const parseTable = (text: string): ReadonlySet<string> =>
  new Set(
    text.split('\n').flatMap((line) => {
      const found = /^(\S+)\s+([^\s(]+)\(/.exec(line);
      return found === null ? [] : [`${found[1]} ${found[2]}`];
    }),
  );

/** `exportfs` as it is called by `command`. */
export const exportfs = (command: readonly string[]): Exportfs => {
  const list = async (): Promise<ReadonlySet<string>> => {
    const { code, stdout, stderr } = await run(command, ['-s']);
    if (code === 0) return parseTable(stdout);
    const why = stderr.trim().split('\n').at(-1) || `exit code ${code}`;
    throw new AppError('INSTANCE_FAILED', `the table of exports cannot be read: ${why}`, { facts: { code } });
  };
  const apply = async (): Promise<Applied> => {
    const { stderr } = await run(command, ['-ra']);
    const complaints = stderr
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
    return { complaints: [...new Set(complaints)], exported: await list() };
  };
  return { list, apply };
};
