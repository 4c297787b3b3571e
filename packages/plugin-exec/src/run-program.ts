import { type ChildProcess, spawn } from 'node:child_process';
import { type After, whenAborted } from '@infrakit/spi';

/** One run of a program. */
export interface ProgramRun {
  readonly command: string;
  readonly args: readonly string[];
  /** All that the program sees of an environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly input: string;
  readonly deadlineMs: number;
  /** Between SIGTERM and SIGKILL. */
  readonly graceMs: number;
  readonly maxOutputBytes: number;
  readonly signal: AbortSignal;
  readonly onStderrLine: (line: string) => void;
}

/** How a run ended. */
export type ProgramEnd =
  | { readonly kind: 'exited'; readonly code: number; readonly stdout: Buffer; readonly stderr: string }
  | { readonly kind: 'signalled'; readonly signal: string; readonly stderr: string }
  | { readonly kind: 'stopped'; readonly why: 'deadline' | 'output' | 'caller'; readonly stderr: string }
  | { readonly kind: 'unstartable'; readonly reason: string };

/** What is kept of stderr: its end. */
const stderrBytes = 64 * 1024;
/** How long a pipe may stay open that a child of an ended program holds. */
const drainMs = 500;

const reasonOf = (error: NodeJS.ErrnoException, command: string): string => {
  if (error.code === 'ENOENT') return `there is no program ${command}`;
  if (error.code === 'EACCES') return `${command} may not be executed; is its x bit set?`;
  return `${command} cannot be started: ${error.message}`;
};

/** Sends a signal to a program and to all that it has started in its group. */
const signalGroup = ({ pid }: ChildProcess, signal: NodeJS.Signals): void => {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended.
  }
};

/**
 * Runs a program without a shell, in a process group of its own, and resolves when it has ended. At the deadline, at too much
 * output and when the signal aborts the group gets SIGTERM, and SIGKILL after the grace. A program may close its stdin
 * unread. What it leaves running in the background may go on, but is not waited for.
 */
export const runProgram = (run: ProgramRun, { after }: { readonly after: After }): Promise<ProgramEnd> =>
  new Promise((resolve) => {
    const { command, args, env, graceMs } = run;
    let child: ChildProcess;
    try {
      child = spawn(command, [...args], { env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
    } catch (error) {
      resolve({ kind: 'unstartable', reason: reasonOf(error as NodeJS.ErrnoException, command) });
      return;
    }
    const { stdin, stdout, stderr } = child;
    const output: Buffer[] = [];
    let outputBytes = 0;
    let complaint = '';
    let partialLine = '';
    let why: 'deadline' | 'output' | 'caller' | undefined;
    let stopKill = (): void => undefined;
    let stopDrain = (): void => undefined;

    const stop = (reason: 'deadline' | 'output' | 'caller'): void => {
      if (why !== undefined) return;
      why = reason;
      signalGroup(child, 'SIGTERM');
      stopKill = after(graceMs, () => signalGroup(child, 'SIGKILL'));
    };
    const stopDeadline = after(run.deadlineMs, () => stop('deadline'));
    const forget = whenAborted(run.signal, () => stop('caller'));
    const release = (): void => {
      stopDeadline();
      stopDrain();
      forget();
    };

    stdout?.on('data', (chunk: Buffer) => {
      outputBytes += chunk.length;
      if (outputBytes > run.maxOutputBytes) stop('output');
      else output.push(chunk);
    });
    stderr?.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(-stderrBytes);
      const lines = (partialLine + text).split('\n');
      partialLine = (lines.pop() ?? '').slice(-stderrBytes);
      for (const line of lines) if (line.trim() !== '') run.onStderrLine(line);
    });
    // A program need not read what it is asked.
    stdin?.on('error', () => undefined).end(run.input);

    child.once('error', (error) => {
      if (child.pid !== undefined) return;
      release();
      resolve({ kind: 'unstartable', reason: reasonOf(error, command) });
    });
    child.once('exit', () => {
      stopDrain = after(drainMs, () => {
        stdout?.destroy();
        stderr?.destroy();
      });
    });
    child.once('close', (code, signal) => {
      release();
      // Children that did not listen to SIGTERM are ended by the SIGKILL that is still to come.
      if (why !== undefined) resolve({ kind: 'stopped', why, stderr: complaint });
      else {
        stopKill();
        resolve(
          code === null
            ? { kind: 'signalled', signal: signal ?? 'a signal', stderr: complaint }
            : { kind: 'exited', code, stdout: Buffer.concat(output), stderr: complaint },
        );
      }
    });
    if (run.signal.aborted) stop('caller');
  });
