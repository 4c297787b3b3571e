import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where the demo plays: a fresh home, the real command line, one host. */
export interface Stage {
  readonly home: string;
  /** Starts the host; resolves with its process at once. */
  readonly startHost: (plugins: readonly string[]) => ChildProcess;
  /** What the host said so far. */
  readonly hostLog: () => Promise<string>;
  /** The folder of the specs, in which the command line runs. */
  readonly specs: string;
  /** Runs the command line, shows it and at most so many lines of its answer, and gives the answer. */
  readonly infrakit: (
    args: readonly string[],
    shownLines?: number,
    variables?: Readonly<Record<string, string>>,
  ) => Promise<string>;
  /** Stops the host and removes the home. */
  readonly clear: () => Promise<void>;
}

const root = fileURLToPath(new URL('../../', import.meta.url));
export const program = join(root, 'packages/cli/bin/infrakit.js');
const commandTimeoutMs = 20_000;
const stopTimeoutMs = 12_000;

/** Folder of the `infrakit` command, for `PATH`. */
export const binFolder = join(root, 'node_modules/.bin');

const shown = (answer: string, lines: number): string => {
  if (lines === 0) return '…';
  const all = answer.trimEnd().split('\n');
  if (all.length <= lines) return all.join('\n');
  return [...all.slice(0, lines), `… ${all.length - lines} more lines`].join('\n');
};

const quoted = (word: string): string => (/^[\w./:@=-]+$/.test(word) ? word : `'${word}'`);

/** Sets the stage: `variables` are added to the environment of the host and of the command line. */
export const setStage = async (variables: Readonly<Record<string, string>>): Promise<Stage> => {
  const home = await mkdtemp(join(tmpdir(), 'infrakit-demo-'));
  const env = { INFRAKIT_LISTEN: '127.0.0.1:0', ...process.env, ...variables, INFRAKIT_HOME: home };
  const logFile = join(home, 'host.log');
  const specs = fileURLToPath(new URL('specs', import.meta.url));
  let host: ChildProcess | undefined;

  const isRunning = (child: ChildProcess): boolean => child.exitCode === null && child.signalCode === null;
  const endAtOnce = (): void => {
    if (host !== undefined && isRunning(host)) host.kill('SIGKILL');
  };
  process.once('exit', endAtOnce);
  return {
    home,
    startHost: (plugins) => {
      console.log(`$ infrakit plugin start ${plugins.join(' ')} &`);
      // A group of its own: Ctrl-C is for the demo, which then stops it in order.
      host = spawn(process.execPath, [program, 'plugin', 'start', ...plugins], {
        env,
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const log = createWriteStream(logFile);
      host.stdout?.pipe(log, { end: false });
      host.stderr?.pipe(log, { end: false });
      return host;
    },
    hostLog: () => readFile(logFile, 'utf8').catch(() => ''),
    specs,
    infrakit: (args, shownLines = Number.POSITIVE_INFINITY, more = {}) =>
      new Promise((resolve, reject) => {
        console.log(`\n$ infrakit ${args.map(quoted).join(' ')}`);
        const options = { env: { ...env, ...more }, cwd: specs, timeout: commandTimeoutMs };
        execFile(process.execPath, [program, ...args], options, (error, stdout, stderr) => {
          if (stdout !== '') console.log(shown(stdout, shownLines));
          if (stderr !== '') console.log(stderr.trimEnd());
          if (error === null) resolve(stdout);
          else reject(new Error(`infrakit ${args.join(' ')}: exit ${error.code ?? error.signal}`));
        });
      }),
    clear: async () => {
      if (host !== undefined && isRunning(host)) {
        const exited = once(host, 'exit');
        host.kill('SIGTERM');
        const giveUp = setTimeout(endAtOnce, stopTimeoutMs);
        await exited;
        clearTimeout(giveUp);
      }
      process.off('exit', endAtOnce);
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
};
