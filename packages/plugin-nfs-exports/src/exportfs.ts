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

/** A path as `exportfs -s` writes it: blanks as `\040`. */
const tablePath = (path: string): string =>
  path.replace(/[\s\\#]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`);

/** The name of an export in {@link Applied.exported}. */
export const tableName = (path: string, client: string): string => `${tablePath(path)} ${client}`;

const run = (command: readonly string[], args: readonly string[]): Promise<{ stdout: string; stderr: string }> =>
  new Promise((resolve, reject) => {
    const [program = 'exportfs', ...before] = command;
    execFile(
      program,
      [...before, ...args],
      { timeout: timeoutMs, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        // A complaint about one line is exit code 1 and still a run; no exit code at all is none.
        if (error !== null && typeof error.code !== 'number') {
          reject(new AppError('INSTANCE_FAILED', `${program} cannot be run: ${error.message}`, { cause: error }));
        } else resolve({ stdout, stderr });
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
  const list = async (): Promise<ReadonlySet<string>> => parseTable((await run(command, ['-s'])).stdout);
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
